pub fn f() { let _s = hyper::Server::new(); }
