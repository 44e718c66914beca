//! An answer of the operating system as the error of a run.

use std::io::Error;
use std::path::Path;

use crate::effect::RunError;

/// Says what was tried with which path.
pub fn cannot<'a>(action: &'a str, path: &'a Path) -> impl Fn(Error) -> RunError + 'a {
    move |error| RunError::Io {
        action: format!("{action} {}", path.display()),
        reason: error.to_string(),
    }
}
