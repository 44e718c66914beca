use mockall::predicate; // expect: test-import-in-production
pub fn f() { predicate::eq(1); }
