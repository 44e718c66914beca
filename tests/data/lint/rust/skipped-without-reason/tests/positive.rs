#[test]
#[ignore]
fn a() { assert_eq!(f(2), 4); } // expect: skipped-without-reason
fn f(x: u32) -> u32 { x * 2 }
