//! What keeps the contract of `effect` in the real world; the one file that names every adapter.

pub mod host;
pub mod repo;
pub mod store;
pub mod suite;
