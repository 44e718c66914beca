//! GitHub client over octocrab and our HTTP client: everything that the bot reads and writes there.
//!
//! octocrab only builds and sends requests. Its typed responses fail on data that GitHub really
//! sends (a permission of `write`, a comment of a deleted account), and its retries ignore whether
//! a call is safe to repeat. This module does both itself.

mod check_run;
mod client;
mod comment;
mod commit;
mod error_response;
mod forge;
mod issue;
mod pull;
mod responses;
mod route;

#[cfg(test)]
mod tests;

pub use client::{GitHub, GitHubSettings};
