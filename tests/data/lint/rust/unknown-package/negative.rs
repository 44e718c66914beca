use std::fmt;
use serde_json::Value;
use crate::tax::rate;
mod inner { pub fn g() {} }
use inner::g;
pub fn f(_: fmt::Error, _: Value) { rate(); g(); }
