//! Processes, files, time and signals of this machine.

pub mod clock;
pub mod crash;
pub mod environment;
pub mod files;
pub mod http;
pub mod invocation;
mod orphans;
pub mod process;
pub mod random;
pub mod sandbox;
mod short_command;
