#[test]
fn loads() {
    if let Some(row) = load("x") { // expect: conditional-assertion
        assert_eq!(row, "x");
    }
}
