#[test]
fn a() {} // expect: empty-test
