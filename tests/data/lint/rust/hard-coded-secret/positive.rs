pub const API_KEY: &str = "q";
pub fn f() -> usize { let password = "hT9kQ2vRxW7pLz4m"; password.len() } // expect: hard-coded-secret
