#[cfg(unix)]
use std::fmt;
#[cfg(windows)]
use std::fmt;
pub fn f(_: fmt::Error) {}
