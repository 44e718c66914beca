pub fn f() { let _s = mockito::Server::new(); } // expect: stub-in-production
