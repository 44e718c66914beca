//! Drives the built program on real repositories, as a person would.

mod bad_input;
mod crash;
mod story;
mod support;
