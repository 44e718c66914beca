//! Drives the built program on real repositories, as a person would.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests build the world that the program then meets"
)]

mod agents;
mod bad_input;
mod bot;
mod contained;
mod crash;
#[expect(dead_code, reason = "the tests of the client use the other parts of it")]
mod fake_github;
mod fake_model;
mod flood;
mod forge;
mod frameworks;
mod generation;
mod git_http;
mod interrupted;
mod kept;
mod models;
mod page;
mod pin;
mod planning;
mod sandbox;
mod settings;
mod state;
mod story;
mod support;
mod tongues;
mod validate;
mod warm;
mod written;
