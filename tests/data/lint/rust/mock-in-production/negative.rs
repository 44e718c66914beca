#[cfg_attr(test, automock)]
pub trait Send { fn send(&self); }
