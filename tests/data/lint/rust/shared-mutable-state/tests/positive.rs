static mut COUNT: u32 = 0; // expect: shared-mutable-state
#[test]
fn a() { unsafe { COUNT += 1; assert_eq!(COUNT, 1); } }
#[test]
fn b() { unsafe { assert_ne!(COUNT, 7); } }
