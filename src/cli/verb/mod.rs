//! The verbs, one file each, and what they share: JSON output, exit codes, session lookup.

pub mod clients;
pub mod config;
pub mod demo;
pub mod doctor;
pub mod fix;
pub mod integration;
pub mod memory;
pub mod pin;
pub mod plan;
pub mod report;
pub mod score;
pub mod session;
pub mod status;
pub mod validate;
pub mod work;

use serde::Serialize;

use super::exit_code::exit;
use crate::adapter::host::console::println;

/// Prints a document with the version of its form.
fn print_document(document: &impl Serialize) {
    let mut value = serde_json::to_value(document).unwrap_or_default();
    value["schema-version"] = 1.into();
    print_json(&value);
}

fn print_json(document: &impl Serialize) {
    println!("{}", serde_json::to_string_pretty(document).unwrap_or_default());
}

/// The exit code for a gate that is met or not met.
fn code_of(met: bool) -> u8 {
    if met { exit::MET } else { exit::NOT_MET }
}
