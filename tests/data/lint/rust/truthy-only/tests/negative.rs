#[test]
fn a() { assert!(f(2)); }
fn f(x: u32) -> bool { x > 1 }
