//! Standard output and error of this process. The macros take what those of `std` take and remove
//! secrets; Clippy refuses those of `std` everywhere else.

use std::fmt::Arguments;
use std::io::{self, Write};

use super::redaction::redact;

/// Writes to standard output. A closed pipe ends the output, not the process.
pub fn write_out(text: Arguments<'_>, end: &str) {
    let _closed = write!(io::stdout(), "{}{end}", redact(&text.to_string()));
}

/// Writes to standard error.
pub fn write_error(text: Arguments<'_>, end: &str) {
    let _closed = write!(io::stderr(), "{}{end}", redact(&text.to_string()));
}

/// Writes the workflow command that hides a text, the one thing that names a secret on purpose.
pub fn write_mask(command: &str) {
    let _closed = writeln!(io::stdout(), "{command}");
}

macro_rules! print {
    ($($text:tt)*) => { $crate::adapter::host::console::write_out(format_args!($($text)*), "") };
}

macro_rules! println {
    () => { $crate::adapter::host::console::write_out(format_args!(""), "\n") };
    ($($text:tt)*) => { $crate::adapter::host::console::write_out(format_args!($($text)*), "\n") };
}

macro_rules! eprint {
    ($($text:tt)*) => { $crate::adapter::host::console::write_error(format_args!($($text)*), "") };
}

macro_rules! eprintln {
    ($($text:tt)*) => { $crate::adapter::host::console::write_error(format_args!($($text)*), "\n") };
}

pub(crate) use {eprint, eprintln, print, println};
