//! Reads sources: those under test, and those in which their types may be declared.

use std::collections::BTreeSet;

use crate::code::imports;
use crate::code::java_packages::{imports_of, package_of};
use crate::code::language::Language;
use crate::code::test_paths::is_test;
use crate::domain::id::RepoPath;
use crate::effect::{EffectError, Effects};

use super::GenerateRequest;

/// Maximum size of a source in bytes; larger ones are usually generated or bundled.
const SOURCE: usize = 300_000;

/// The files in which types of a source may be declared: in Go and Java the other sources of its
/// package, or its tests; in Java, Python and TypeScript those that it imports. Other languages need none.
pub async fn read_siblings(
    request: &GenerateRequest<'_>,
    file: &RepoPath,
    tests: bool,
    fx: &Effects<'_>,
) -> Result<Vec<String>, EffectError> {
    let mut found = Vec::new();
    let language = Language::of(file);
    if let Some(language @ (Language::Python | Language::TypeScript | Language::Tsx)) = language
        && !tests
    {
        return imported_sources(request, (file, language), fx).await;
    }
    if !matches!(language, Some(Language::Go | Language::Java)) {
        return Ok(found);
    }
    for other in fx.worktree.files(request.tree).await? {
        let is_sibling = other.parent() == file.parent() && other != *file;
        if is_sibling && other.extension() == file.extension() && is_test(&other) == tests {
            found.extend(read_source(request, &other, fx).await?);
        }
    }
    if language == Some(Language::Java) && !tests {
        let text = read_source(request, file, fx).await?.unwrap_or_default();
        let root = file.parent().strip_suffix(&package_of(&text).replace('.', "/"));
        let classes = imports_of(&text).into_iter().filter_map(|one| {
            let class = one.strip_prefix("import ")?.strip_suffix(';')?.trim().replace('.', "/");
            RepoPath::inside(root?.trim_end_matches('/'), &format!("{class}.java")).ok()
        });
        for other in classes.collect::<Vec<_>>() {
            found.extend(read_source(request, &other, fx).await?);
        }
    }
    Ok(found)
}

/// The sources of the repository that a file of Python or TypeScript imports.
async fn imported_sources(
    request: &GenerateRequest<'_>,
    (file, language): (&RepoPath, Language),
    fx: &Effects<'_>,
) -> Result<Vec<String>, EffectError> {
    let text = read_source(request, file, fx).await?.unwrap_or_default();
    let files = fx.worktree.files(request.tree).await?;
    let Some(tree) = language.parse(&text) else { return Ok(Vec::new()) };
    let holds = |path: &str| files.iter().any(|file| file.as_str() == path);
    let modules = imports::read(language, &tree, &text).into_iter().map(|one| one.module);
    let paths: BTreeSet<String> = modules
        .filter_map(|module| imports::local_module(file, language, &module, &holds))
        .collect();
    let mut found = Vec::new();
    for path in paths.into_iter().filter_map(|path| RepoPath::parse(path).ok()) {
        found.extend(read_source(request, &path, fx).await?);
    }
    Ok(found)
}

/// The text of a source; `None` if it is too long.
pub async fn read_source(
    request: &GenerateRequest<'_>,
    file: &RepoPath,
    fx: &Effects<'_>,
) -> Result<Option<String>, EffectError> {
    let bytes = fx.worktree.read(request.tree, file).await?;
    let bytes = bytes.filter(|bytes| bytes.len() <= SOURCE);
    Ok(bytes.and_then(|bytes| String::from_utf8(bytes).ok()))
}
