#[test]
fn a() { // expect: nothing-asserted
    let mut items = Vec::new();
    items.push(4);
}
