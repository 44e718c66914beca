pub fn f(a: Result<u32, u32>) {
    if let Err(_) = a {} // expect: empty-catch
}
