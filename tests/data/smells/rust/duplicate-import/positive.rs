use std::fmt;
use std::fmt; // expect: duplicate-import
pub fn f(_: fmt::Error) {}
