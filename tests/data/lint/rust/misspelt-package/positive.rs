use serde_jsn::Value; // expect: misspelt-package
pub fn f(_: Value) {}
