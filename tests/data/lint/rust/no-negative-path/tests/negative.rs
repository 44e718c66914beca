#[test]
fn a() { assert_eq!(f(2), 4); }
#[test]
#[should_panic]
fn b() { f(3); }
#[test]
fn c() { assert_eq!(f(0), 0); }
fn f(x: u32) -> u32 { x * 2 }
