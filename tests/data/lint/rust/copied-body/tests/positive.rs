#[test]
fn a() {
    let result = f(2) + f(3) + f(4);
    assert_eq!(result, 18);
}
#[test]
fn b() { // expect: copied-body
    let result = f(2) + f(3) + f(4);
    assert_eq!(result, 18);
}
fn f(x: u32) -> u32 { x * 2 }
