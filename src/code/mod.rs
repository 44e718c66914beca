//! Source text understood: which language, what it defines, who imports whom, does it parse.
//!
//! Pure: text in, values out. It does not know where a file lies on disk or who asks.

pub mod behaviour;
pub mod cases;
pub mod conduct;
pub mod conventions;
pub mod coverage;
pub mod edit;
pub mod imports;
pub mod language;
pub mod mutate;
pub mod names;
pub mod outline;
pub mod signature;
pub mod smell;
pub mod syntax;
pub mod testing;
