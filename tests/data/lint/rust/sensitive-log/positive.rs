pub fn f(password: &str) {
    println!("{}", password); // expect: sensitive-log
}
