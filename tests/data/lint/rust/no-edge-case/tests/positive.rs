#[test]
fn a() { assert_eq!(f(2), 4); } // expect: no-edge-case
#[test]
fn b() { assert_eq!(f(3), 6); }
#[test]
fn error() { assert_eq!(f(5), 10); }
fn f(x: u32) -> u32 { x * 2 }
