#[cfg(test)]
use mockall::predicate;
pub fn f() {}
