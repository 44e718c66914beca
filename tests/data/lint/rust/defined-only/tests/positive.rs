#[test]
fn a() {
    let found = f(2);
    assert!(found.is_some()); // expect: defined-only
}
fn f(x: u32) -> Option<u32> { Some(x * 2) }
