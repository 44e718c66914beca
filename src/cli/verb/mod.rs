//! One file per verb.

pub mod config;
pub mod demo;
pub mod doctor;
pub mod fix;
pub mod plan;
pub mod providers;
pub mod replay;
pub mod report;
pub mod session;
pub mod status;
pub mod validate;
