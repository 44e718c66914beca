//! `/regreen extend`: finds the files that the last fix changed, to write tests for them.

use crate::bot::context::Context;
use crate::bot::error::BotError;
use crate::bot::sessions;

/// Files that one extension covers at most.
const FILES: usize = 10;

/// The files of the head that the fixes of the newest session changed, separated by spaces; `None`
/// when there are none.
pub async fn files_of_fixes(context: &Context<'_>) -> Result<Option<String>, BotError> {
    let Some(newest) = sessions::newest(context).await? else { return Ok(None) };
    let view = newest.view(context).await?;
    let mut files: Vec<String> = view.rows.into_iter().flat_map(|row| row.files).collect();
    files.sort();
    files.dedup();
    files.retain(|file| {
        let found = context.prepared.clone.file_of(&context.target.head, file);
        found.is_ok_and(|file| file.is_some())
    });
    files.truncate(FILES);
    Ok((!files.is_empty()).then(|| files.join(" ")))
}
