//! `regreen config`: checks a configuration file, or prints its JSON Schema.

use crate::adapter::host::console::{eprintln, println};
use crate::adapter::host::files;
use crate::app::AppError;
use crate::cli::args::{ConfigArguments, ConfigVerb};
use crate::cli::exit_code::exit;
use crate::config;

use super::print_json;

/// Runs `regreen config` and returns its exit code.
pub fn run(arguments: &ConfigArguments) -> Result<u8, AppError> {
    match arguments.what {
        ConfigVerb::Schema => print_json(&config::schema()),
        ConfigVerb::Check => {
            let path = &arguments.file;
            let unreadable = |reason: String| {
                AppError::usage(
                    format!("{}: {reason}", path.display()),
                    "name the file: `regreen config check FILE`",
                )
            };
            let bytes =
                files::read(path, 1 << 20).map_err(|error| unreadable(error.to_string()))?;
            let bytes = bytes.ok_or_else(|| unreadable("there is no such file".into()))?;
            let text = String::from_utf8_lossy(&bytes);
            match config::parse(&text, &path.display().to_string()) {
                Ok(_) => println!("{}: fine", path.display()),
                Err(problems) => {
                    for problem in problems {
                        eprintln!("{problem}");
                    }
                    return Ok(exit::USAGE);
                }
            }
        }
    }
    Ok(exit::MET)
}
