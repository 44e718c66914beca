#[test]
fn a() { assert_eq!(f(2), 4); } // expect: no-negative-path
#[test]
fn b() { assert_eq!(f(3), 6); }
#[test]
fn c() { assert_eq!(f(0), 0); }
fn f(x: u32) -> u32 { x * 2 }
