//! One file per verb.

pub mod config;
pub mod demo;
pub mod doctor;
pub mod fix;
pub mod pin;
pub mod plan;
pub mod providers;
pub mod replay;
pub mod report;
pub mod score;
pub mod session;
mod settings;
pub mod status;
mod subject;
pub mod validate;
mod work;
