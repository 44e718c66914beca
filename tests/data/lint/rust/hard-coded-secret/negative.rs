pub fn f() -> usize { let password = "enter it twice 12"; password.len() }
