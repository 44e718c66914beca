//! State and events to text; everything foreign escaped. Pure.

pub mod document;
pub mod forms;
pub mod handover;
pub mod markdown;
pub mod mutation;
pub mod pinned;
pub mod records;
pub mod summary;
pub mod terminal;
#[cfg_attr(not(test), expect(dead_code, reason = "the publisher calls it"))]
pub mod view;
