#[test]
fn a() {
    let result = f(2);
    assert!(result); // expect: truthy-only
}
fn f(x: u32) -> bool { x > 1 }
