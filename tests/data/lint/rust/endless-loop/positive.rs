pub fn f(mut a: u32) {
    loop { a += 1; } // expect: endless-loop
}
