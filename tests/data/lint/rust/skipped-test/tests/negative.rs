#[test]
fn a() { assert_eq!(f(2), 4); }
fn f(x: u32) -> u32 { x * 2 }
