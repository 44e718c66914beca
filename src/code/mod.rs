//! Source text understood: which language, what it defines, who imports whom, does it parse.
//!
//! Pure: text in, values out. It does not know where a file lies on disk or who asks.

pub mod behaviour;
pub mod conventions;
pub mod coverage;
pub mod edit;
pub mod imports;
pub mod language;
pub mod lint;
pub mod mutate;
pub mod names;
pub mod outline;
pub mod parallel;
pub mod pattern;
pub mod side_effects;
pub mod signature;
pub mod syntax;
pub mod test_cases;
pub mod testing;
pub mod tree;
