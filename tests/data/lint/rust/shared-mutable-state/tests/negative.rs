static LIMIT: u32 = 1;
#[test]
fn a() { let mut count = 0; count += 1; assert_eq!(count, LIMIT); }
