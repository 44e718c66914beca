pub fn f() { let _s = mockito::Server::new(); } // expect: mock-in-production
