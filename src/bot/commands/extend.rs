//! `/regreen extend`: finds the files that the last fix changed, to write tests for them.

use crate::bot::context::Context;
use crate::bot::error::BotError;
use crate::bot::sessions;

/// Files that one extension covers at most.
const FILES: usize = 10;

/// The head's files that the newest session changed, separated by spaces, if any.
pub async fn files_of_fixes(context: &Context<'_>) -> Result<Option<String>, BotError> {
    let mut rows = Vec::new();
    for known in sessions::known(context).await?.into_iter().rev() {
        rows = known.view(context).await?.rows;
        if !rows.is_empty() {
            break;
        }
    }
    let mut files: Vec<String> = rows.into_iter().flat_map(|row| row.files).collect();
    files.sort();
    files.dedup();
    files.retain(|file| {
        let found = context.prepared.clone.file_of(&context.target.head, file);
        found.is_ok_and(|file| file.is_some())
    });
    files.truncate(FILES);
    Ok((!files.is_empty()).then(|| files.join(" ")))
}
