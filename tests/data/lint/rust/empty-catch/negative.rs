pub fn f(a: Result<u32, u32>) {
    if let Err(e) = a { println!("{e}"); }
    if let Ok(_) = a {}
}
