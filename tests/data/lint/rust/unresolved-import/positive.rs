mod missing; // expect: unresolved-import
pub fn f() -> u32 { missing::f() }
