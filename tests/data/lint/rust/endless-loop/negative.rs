pub fn f(mut a: u32) -> u32 {
    loop { a += 1; if a > 3 { return a; } }
}
