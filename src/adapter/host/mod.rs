//! Access to the host: child processes, sandbox, files, HTTP, clock, environment, randomness.

pub mod canary;
pub mod clock;
pub mod console;
pub mod crash;
pub mod environment;
pub mod files;
pub mod gateway;
pub mod http;
pub mod invocation;
mod orphans;
pub mod packages;
pub mod process;
pub mod random;
pub mod rate_limit;
pub mod redaction;
pub mod sandbox;
mod short_command;

#[cfg(test)]
pub use orphans::Live;
