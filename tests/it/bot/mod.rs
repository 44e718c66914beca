//! The action, end to end: a fake GitHub, a git server, and jobs that run one after the other.

mod commands;
mod concurrent_pushes;
#[cfg(feature = "container-tests")]
mod container_server;
#[cfg(feature = "slow-tests")]
mod end_states;
mod escaping;
mod events;
mod harness;
mod hostile;
mod inputs;
mod integration_commands;
mod memory;
mod plan_commands;
mod pull_request_life;
mod pull_request_page;
mod requests;
