//! What the sources of a repository say about the functions of a file: how they are called, what is
//! called on their results, and where names come from.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::language::Language;
use crate::code::signature::{self, ChainedCall};
use crate::domain::id::RepoPath;
use crate::effect::{EffectError, Effects};

use super::GenerateRequest;
use super::imported_names::ImportedNames;
use super::type_sources::read_source;

/// The functions and classes to look for.
pub struct SubjectNames {
    pub names: BTreeSet<String>,
    /// Files with what their default exports are called here.
    pub defaults: Vec<(RepoPath, String)>,
}

/// What the sources of the repository say about the names of functions.
#[derive(Default)]
pub struct CalledNames {
    /// Arguments of calls, by function name.
    pub examples: BTreeMap<String, Vec<Vec<String>>>,
    /// Calls on their results, by function name.
    pub chains: BTreeMap<String, BTreeSet<ChainedCall>>,
    /// Names that several sources define, so that a page may mean either.
    pub ambiguous: BTreeSet<String>,
    /// Where names come from that arguments may be made by.
    pub imported: ImportedNames,
}

/// The calls of functions in the searched sources of the repository.
pub async fn read_called_names(
    request: &GenerateRequest<'_>,
    subject: &SubjectNames,
    (searched, files): (&[(&RepoPath, Language)], &BTreeSet<RepoPath>),
    fx: &Effects<'_>,
) -> Result<CalledNames, EffectError> {
    let mut found = CalledNames::default();
    let mut texts = Vec::new();
    for (file, language) in searched {
        let Some(text) = read_source(request, file, fx).await? else { continue };
        found.imported.note_imports((file, *language), &text, files);
        texts.push((*language, text));
    }
    let mut aliases: BTreeMap<String, String> = BTreeMap::new();
    for (file, own) in &subject.defaults {
        let others = found.imported.list_default_names(file);
        aliases.extend(others.into_iter().map(|name| (name.clone(), own.clone())));
    }
    let own = |name: String| aliases.get(&name).cloned().unwrap_or(name);
    let called: BTreeSet<String> = subject.names.iter().chain(aliases.keys()).cloned().collect();
    let mut defined: BTreeMap<&String, usize> = BTreeMap::new();
    for (language, text) in &texts {
        for (name, mut calls) in signature::call_arguments(*language, text, &called) {
            // What only the code itself gives by name is not meant for others.
            calls
                .retain(|given| !given.iter().any(|one| one.starts_with('_') && one.contains('=')));
            found.examples.entry(own(name)).or_default().extend(calls);
        }
        for (name, calls) in signature::chained_calls(*language, text, &called) {
            found.chains.entry(own(name)).or_default().extend(calls);
        }
        for name in subject.names.iter().filter(|name| signature::is_defined(text, name)) {
            *defined.entry(name).or_default() += 1;
        }
    }
    let several = defined.into_iter().filter(|(_, count)| *count > 1);
    found.ambiguous = several.map(|(name, _)| name.clone()).collect();
    Ok(found)
}
