fn f() -> u32 { 1 }
fn f() -> u32 { 2 } // expect: redeclaration
