//! GitHub, over octocrab and the one HTTP client: what the bot reads and posts.
//!
//! octocrab carries requests (base address, token, version header). Its typed answers are not
//! used, since they fail on what GitHub really sends (a permission of `write`, a comment of a
//! deleted account), and it does not repeat, since it would repeat blindly. Both are done here.

mod check_run;
mod client;
mod comment;
mod commit;
mod forge;
mod issue;
mod pull;
mod refusal;
mod route;
mod shape;

#[cfg(test)]
mod tests;

pub use client::{GitHub, GitHubSettings};
