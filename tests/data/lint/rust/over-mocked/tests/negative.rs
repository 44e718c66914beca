#[test]
fn pays_really() {
    let bank = MockBank::new();
    assert_eq!(pay(bank, 3), 4);
}
