//! Converts I/O errors into [`RunError`].

use std::io::Error;
use std::path::Path;

use crate::effect::RunError;

/// Converts an I/O error into one that names the action and the path.
pub fn cannot<'a>(action: &'a str, path: &'a Path) -> impl Fn(Error) -> RunError + 'a {
    move |error| RunError::Io {
        action: format!("{action} {}", path.display()),
        reason: error.to_string(),
    }
}
