#[test]
fn a() { assert_eq!(f(2), Some(4)); }
fn f(x: u32) -> Option<u32> { Some(x * 2) }
