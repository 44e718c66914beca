//! The face on GitHub: what comes in, as values.
//!
//! An event file becomes a trigger, a comment becomes commands, and a person is allowed or not.
//! Nothing here reads a file, asks the forge or runs anything; every refusal carries its reason.

pub mod command;
mod payload;
pub mod permission;
pub mod trigger;

#[cfg(test)]
mod tests;
