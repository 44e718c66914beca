use made_up_crate::thing; // expect: unknown-package
pub fn f() { thing(); }
