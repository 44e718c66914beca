#[test]
#[ignore = "needs a server"]
fn a() { assert_eq!(f(2), 4); } // expect: skipped-test
fn f(x: u32) -> u32 { x * 2 }
