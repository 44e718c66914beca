#[test]
fn a() { // expect: setup-only
    let mut items = Vec::new();
    items.push(4);
}
