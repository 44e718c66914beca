fn f(a: u32) -> u32 {
    if a > 3 { unreachable!() }
    a
}
