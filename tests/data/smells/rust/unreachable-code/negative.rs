pub fn f(a: u32) -> u32 {
    if a > 1 { return a; }
    g(a)
}
fn g(a: u32) -> u32 { a }
