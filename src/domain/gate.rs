//! Results to verdict.
