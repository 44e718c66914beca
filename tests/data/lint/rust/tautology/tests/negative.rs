#[test]
fn a() { assert_eq!(f(1), 2); }
fn f(x: u32) -> u32 { x * 2 }
