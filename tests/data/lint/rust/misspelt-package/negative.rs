use serde_json::Value;
pub fn f(_: Value) {}
