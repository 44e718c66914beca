#[test]
#[ignore = "needs a printer"]
fn a() { // expect: skipped-test
    print(2);
}
