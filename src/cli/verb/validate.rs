//! `regreen validate`: gate 001.3 alone, on any repository.

use std::collections::{BTreeMap, BTreeSet};

use globset::{Glob, GlobSetBuilder};

use crate::adapter::host::{clock, files};
use crate::adapter::repo::{self, RepositoryFacts, Sources};
use crate::adapter::{state_root, store, suite};
use crate::cli::args::ValidateArguments;
use crate::cli::failure::{Failure, exit};
use crate::domain::id::{RepoPath, SessionId};
use crate::domain::quality::{Counts, Decision, LIMITS, STRICT, decide};
use crate::effect::StoreError;
use crate::report::validation::{Parts, Skipped, ValidationReport, render_markdown, render_text};
use crate::role::{Review, Reviewed, review, typed};

/// Runs the verb. The gate's answer is the exit code.
pub async fn run(arguments: &ValidateArguments) -> Result<u8, Failure> {
    if arguments.fix && arguments.files.is_empty() && arguments.base.is_none() {
        return Err(Failure::usage(
            "--fix changes only files that are named or changed",
            "add `--files GLOB` or `--base REF`",
        ));
    }
    let facts = repo::discover(&arguments.repository)?;
    let session = arguments
        .session
        .as_deref()
        .map(|text| {
            SessionId::parse(text).map_err(|error| {
                Failure::usage(error.to_string(), "`regreen status` lists the sessions")
            })
        })
        .transpose()?;
    let folder = match &session {
        Some(id) => Some(store::find(&state_root(&facts), id)?.0.join(".process")),
        None => arguments.report.clone(),
    };
    let mut sources = repo::read_sources(&facts)?;
    let chosen = choose(arguments, &facts, &sources)?;
    let mut reviewed = look(arguments, &facts, &sources, &chosen);
    let mut fixed = Vec::new();
    if arguments.fix {
        for (file, (text, gone)) in std::mem::take(&mut reviewed.repairs) {
            write(&facts.root.join(file.as_str()), text.as_bytes())?;
            sources.files.insert(file, text);
            fixed.extend(gone);
        }
        if !fixed.is_empty() {
            reviewed = look(arguments, &facts, &sources, &chosen);
        }
    }
    let mut findings = reviewed.findings;
    let mut skipped: Vec<Skipped> =
        sources.unread.into_iter().map(|(what, reason)| Skipped { what, reason }).collect();
    if arguments.skip_types {
        skipped.push(Skipped { what: "types".into(), reason: "--skip-types".into() });
    } else if !chosen.is_empty() {
        let scratch = tempfile::tempdir().map_err(|error| {
            Failure::environment(
                format!("no scratch folder: {error}"),
                "free space for temporary files",
            )
        })?;
        let said = suite::types(&facts.root, scratch.path()).await;
        findings.extend(typed(&said.said).into_iter().filter(|one| chosen.contains(&one.file)));
        skipped.extend(said.skipped.into_iter().map(|(what, reason)| Skipped { what, reason }));
    }
    let limits = if arguments.strict { STRICT } else { LIMITS };
    let decision = decide(Counts::of(findings.iter()), limits, 0);
    let met = decision.0 == Decision::Pass;
    let report = ValidationReport::from(Parts {
        session: session.map(|id| id.to_string()),
        timestamp: clock::now(),
        files: chosen.len(),
        findings,
        fixed,
        decision,
        skipped,
    });
    let json = serde_json::to_string_pretty(&report).unwrap_or_default() + "\n";
    if let Some(folder) = folder {
        files::create_folder(&folder).map_err(|source| failed(&folder, source))?;
        write(&folder.join("code-validation-report.json"), json.as_bytes())?;
        write(&folder.join("code-validation-report.md"), render_markdown(&report).as_bytes())?;
    }
    if arguments.json {
        print!("{json}");
    } else {
        print!("{}", render_text(&report));
    }
    Ok(if met { exit::MET } else { exit::NOT_MET })
}

fn failed(path: &std::path::Path, source: std::io::Error) -> Failure {
    StoreError::Io { action: "write", path: path.to_owned(), source }.into()
}

fn write(path: &std::path::Path, bytes: &[u8]) -> Result<(), Failure> {
    files::write(path, bytes).map_err(|source| failed(path, source))
}

fn look(
    arguments: &ValidateArguments,
    facts: &RepositoryFacts,
    sources: &Sources,
    chosen: &BTreeSet<RepoPath>,
) -> Reviewed {
    let list: Vec<&RepoPath> = chosen.iter().collect();
    // Packages that a script asks for by a path inside them.
    let mut asked = BTreeSet::new();
    for text in chosen.iter().filter_map(|file| sources.files.get(file)) {
        for quoted in text.split(['"', '\'']).skip(1).step_by(2).filter(|one| one.len() < 100) {
            let depth = if quoted.starts_with('@') { 2 } else { 1 };
            let parts: Vec<&str> = quoted.split('/').collect();
            if parts.len() > depth
                && !quoted.starts_with('.')
                && !quoted.contains(char::is_whitespace)
            {
                asked.insert(parts.get(..depth).unwrap_or_default().join("/"));
            }
        }
    }
    let installed: BTreeMap<String, Vec<String>> = repo::installed(facts, &asked);
    review(&Review {
        files: &sources.files,
        chosen: &list,
        installed: &installed,
        tests: arguments.tests,
    })
}

/// The sources to look at: below the folder that was named, of these globs, changed since.
fn choose(
    arguments: &ValidateArguments,
    facts: &RepositoryFacts,
    sources: &Sources,
) -> Result<BTreeSet<RepoPath>, Failure> {
    let mut globs = GlobSetBuilder::new();
    for text in &arguments.files {
        let glob = Glob::new(text).map_err(|error| {
            Failure::usage(format!("`{text}` is no glob: {error}"), "write it like 'src/**/*.py'")
        })?;
        globs.add(glob);
    }
    let globs = globs.build().map_err(|error| {
        Failure::usage(format!("the globs cannot be used together: {error}"), "name fewer files")
    })?;
    let changed =
        arguments.base.as_deref().map(|base| repo::changed_since(facts, base)).transpose()?;
    let below = &facts.subdirectory;
    Ok(sources
        .files
        .keys()
        .filter(|file| crate::role::reads(file))
        .filter(|file| below.is_empty() || file.as_str().starts_with(&format!("{below}/")))
        .filter(|file| arguments.files.is_empty() || globs.is_match(file.as_str()))
        .filter(|file| changed.as_ref().is_none_or(|changed| changed.contains(*file)))
        .cloned()
        .collect())
}
