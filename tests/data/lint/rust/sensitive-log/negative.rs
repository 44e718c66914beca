pub fn f(password: &str) -> usize {
    println!("password");
    password.len()
}
