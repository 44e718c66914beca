pub fn f(a: u32) -> u32 {
    return a;
    g(a) // expect: unreachable-code
}
fn g(a: u32) -> u32 { a }
