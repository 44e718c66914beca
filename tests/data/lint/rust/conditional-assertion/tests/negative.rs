#[test]
fn loads_or_panics() {
    let Some(row) = load("x") else { panic!("nothing there") };
    assert_eq!(row, "x");
}
