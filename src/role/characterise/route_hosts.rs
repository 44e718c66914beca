//! Files that put the routes of other files into applications.

use std::collections::BTreeSet;

use crate::code::language::Language;
use crate::code::signature::Callable;
use crate::code::test_paths::is_test;
use crate::domain::id::RepoPath;
use crate::effect::{EffectError, Effects};
use crate::repair;

use super::GenerateRequest;
use super::type_sources::read_source;

/// The files that may put the routes of a file into an application: in Python by the names of their modules, in scripts
/// by their paths; none for a file without such routes.
pub async fn read_hosts(
    request: &GenerateRequest<'_>,
    (file, text): (&RepoPath, &str),
    fx: &Effects<'_>,
) -> Result<Vec<(String, String)>, EffectError> {
    let mut found = Vec::new();
    let language = Language::of(file);
    let is_script = language.is_some_and(Language::is_script);
    let marks: &[&str] = if is_script {
        &["Router(", "Router()"]
    } else {
        &["Blueprint(", "APIRouter(", "django", "rest_framework"]
    };
    if marks.iter().all(|mark| !text.contains(mark)) {
        return Ok(found);
    }
    let files = fx.worktree.files(request.tree).await?.into_iter().collect();
    let directory = &fx.suite.facts().directory;
    for other in &files {
        let is_alike = Language::of(other).is_some_and(|one| one.is_script() == is_script);
        let is_source = is_alike && !is_test(other);
        if other == file || !is_source {
            continue;
        }
        let source = read_source(request, other, fx).await?.unwrap_or_default();
        let calls: &[&str] =
            if is_script { &[".use("] } else { &[".register_blueprint(", ".include_router("] };
        let registers =
            calls.iter().any(|call| source.contains(call)) && source.contains(file.stem());
        if registers || !is_script && source.contains("urlpatterns") {
            let place = if is_script {
                other.to_string()
            } else {
                repair::module_of(other, directory, &files)
            };
            found.push((place, source));
        }
    }
    Ok(found)
}

/// What requests of a script import: names with their files or packages, and behind `#` the exported names.
pub fn script_clients(language: Language, callables: &[Callable]) -> Vec<(String, String)> {
    let entries = callables.iter().filter_map(|one| one.entry.as_ref());
    let imports = entries.flat_map(|one| &one.imports).filter(|_| language.is_script());
    let imports: BTreeSet<(String, String)> = imports.cloned().collect();
    imports.into_iter().collect()
}
