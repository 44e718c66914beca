//! `regreen memory`: shows and forgets what earlier sessions left.

use crate::adapter::host::console::{print, println};
use crate::app::{self, AppError};
use crate::cli::args::{MemoryAction, MemoryArguments};
use crate::cli::exit_code::exit;
use crate::report;

use super::print_json;

/// Runs the verb and returns its exit code.
pub fn run(arguments: MemoryArguments) -> Result<u8, AppError> {
    match arguments.action {
        MemoryAction::Show { repository, json } => {
            let memory = app::show_memory(&repository)?;
            if json {
                let text = memory.unwrap_or_default().to_json();
                print_json(&serde_json::from_str::<serde_json::Value>(&text).unwrap_or_default());
            } else {
                print!("{}", report::memory::text(memory.as_ref()));
            }
        }
        MemoryAction::Forget { repository, request } => {
            match app::forget_memory(&repository, &request)? {
                None => println!("the memory of this clone is deleted"),
                Some(1) => println!("1 entry forgotten"),
                Some(number) => println!("{number} entries forgotten"),
            }
            println!(
                "the memory on the server stays as it is; `git push origin :refs/regreen/memory` deletes that"
            );
        }
    }
    Ok(exit::MET)
}
