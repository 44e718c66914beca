#[test]
fn a() { f(2).unwrap(); }
#[test]
#[should_panic]
fn b() { f(2); }
fn f(x: u32) -> Option<u32> { Some(x * 2) }
