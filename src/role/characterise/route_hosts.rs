//! Files that put the routes of other files into applications.

use crate::code::language::Language;
use crate::code::test_paths::is_test;
use crate::domain::id::RepoPath;
use crate::effect::{EffectError, Effects};
use crate::repair;

use super::GenerateRequest;
use super::type_sources::read_source;

/// The files that may put the routes of a file into an application, by the names of their modules; none for a file
/// without such routes.
pub async fn read_hosts(
    request: &GenerateRequest<'_>,
    (file, text): (&RepoPath, &str),
    fx: &Effects<'_>,
) -> Result<Vec<(String, String)>, EffectError> {
    let mut found = Vec::new();
    if !text.contains("Blueprint(") && !text.contains("APIRouter(") {
        return Ok(found);
    }
    let files = fx.worktree.files(request.tree).await?.into_iter().collect();
    let directory = &fx.suite.facts().directory;
    for other in &files {
        let is_source = Language::of(other) == Some(Language::Python) && !is_test(other);
        if other == file || !is_source {
            continue;
        }
        let source = read_source(request, other, fx).await?.unwrap_or_default();
        let registers =
            source.contains(".register_blueprint(") || source.contains(".include_router(");
        if registers && source.contains(file.stem()) {
            found.push((repair::module_of(other, directory, &files), source));
        }
    }
    Ok(found)
}
