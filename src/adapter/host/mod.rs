//! Processes, files, time and signals of this machine.

pub mod clock;
pub mod files;
pub mod process;
pub mod signals;
