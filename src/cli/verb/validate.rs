//! `regreen validate`: gate 001.3 alone, on any repository.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use globset::{Glob, GlobSetBuilder};

use crate::adapter::host::{clock, environment, files};
use crate::adapter::repo::{self, RepositoryFacts, Sources};
use crate::adapter::suite;
use crate::adapter::{state_root, store, work_root};
use crate::cli::args::ValidateArguments;
use crate::cli::failure::{Failure, exit};
use crate::config::{Override, Settings};
use crate::domain::id::{RepoPath, SessionId};
use crate::domain::quality::{
    Counts, Decision, Finding, MAX_RETRIES, Stage, TestMetrics, decide, decide_tests,
};
use crate::domain::request::ToolCommands;
use crate::effect::{Concern, StoreError};
use crate::report::test_quality::{self, TestQuality};
use crate::report::validation::{
    Parts, Skipped, ValidationReport, annotations, by_severity, render_markdown, render_text,
};
use crate::role::{Review, Reviewed, add, review, told};

use super::settings::{configured, contain, flag, limits, tool_commands};

/// Runs the verb. The gate's answer is the exit code.
pub async fn run(arguments: &ValidateArguments) -> Result<u8, Failure> {
    let (facts, below) = place(&arguments.paths)?;
    let settings = configured(&facts.root, arguments.config.as_ref(), &overrides(arguments))?;
    let arguments = &merged(arguments, &settings);
    let named = [arguments.files.is_empty(), arguments.base.is_none(), arguments.paths.is_empty()];
    if arguments.fix && named.iter().all(|none| *none) {
        return Err(Failure::usage(
            "--fix changes only files that are named or changed",
            "name a PATH, or add `--files GLOB` or `--base REF`",
        ));
    }
    contain(&settings)?;
    let commands = tool_commands(&settings);
    let session = session(arguments)?;
    let folder = match &session {
        Some(id) => Some(store::find(&state_root(&facts), id)?.0.join(".process")),
        None => arguments.report.clone(),
    };
    let mut sources = repo::read_sources(&facts);
    let chosen = choose(arguments, &facts, &below, &sources)?;
    let scratch = work_root(&facts).join("validate");
    files::create_folder(&scratch).map_err(|source| failed(&scratch, source))?;
    let desk =
        Desk { arguments, facts: &facts, chosen: &chosen, scratch: &scratch, commands: &commands };
    let mut looked = desk.look(&sources).await;
    let mut fixed = Vec::new();
    let mut retries = 0;
    // Each repair may show the next one: the last name of an import follows the others.
    while arguments.fix && !looked.repairs.is_empty() && retries < MAX_RETRIES {
        for (file, (text, gone)) in std::mem::take(&mut looked.repairs) {
            files::write_below(&facts.root, Path::new(file.as_str()), text.as_bytes())
                .map_err(|source| failed(&facts.root.join(file.as_str()), source))?;
            sources.files.insert(file, text);
            fixed.extend(gone);
        }
        retries += 1;
        looked = desk.look(&sources).await;
    }
    let limits = limits(&settings);
    let (own, about): (Vec<Finding>, Vec<Finding>) =
        looked.findings.into_iter().partition(|one| one.stage == Stage::Code);
    let decision = decide(Counts::of(own.iter()), limits, retries);
    let tests = looked.metrics.map(|metrics| {
        let (status, reason) = decide_tests(Counts::of(about.iter()), limits, &metrics, 0);
        TestQuality { status, gate_decision: reason, metrics, findings: by_severity(about) }
    });
    let met = decision.0 == Decision::Pass
        && tests.as_ref().is_none_or(|tests| tests.status == Decision::Pass);
    let unread = sources.unread.into_iter().map(|(what, reason)| Skipped { what, reason });
    let report = ValidationReport::from(Parts {
        session: session.map(|id| id.to_string()),
        timestamp: clock::now(),
        files: looked.files,
        findings: own,
        fixed,
        decision,
        skipped: unread.chain(looked.skipped).collect(),
        retries,
        tests,
    });
    show(&report, folder.as_deref(), arguments.json)?;
    Ok(if met { exit::MET } else { exit::NOT_MET })
}

/// Flags that stand for keys of the file.
fn overrides(arguments: &ValidateArguments) -> Vec<Override> {
    let yes = |flag: bool| flag.then_some("true");
    let files = (!arguments.files.is_empty())
        .then(|| serde_json::Value::from(arguments.files.clone()).to_string());
    let flags = [
        flag("files", "validate.files", files.as_deref()),
        flag("strict", "validate.strict", yes(arguments.strict)),
        flag("fix", "validate.autofix", yes(arguments.fix)),
        flag("skip-types", "validate.skip-types", yes(arguments.skip_types)),
        flag("lint-command", "tools.lint", arguments.lint_command.as_deref()),
        flag("build-command", "tools.build", arguments.build_command.as_deref()),
    ];
    flags.into_iter().flatten().chain(arguments.set.iter().cloned()).collect()
}

/// The flags with what the file says where they are silent.
fn merged(arguments: &ValidateArguments, settings: &Settings) -> ValidateArguments {
    let told = settings.validate.clone().unwrap_or_default();
    ValidateArguments {
        files: told.files.unwrap_or_default(),
        strict: told.strict == Some(true),
        fix: told.autofix == Some(true),
        skip_types: told.skip_types == Some(true),
        ..arguments.clone()
    }
}

fn session(arguments: &ValidateArguments) -> Result<Option<SessionId>, Failure> {
    let parse = |text: &str| {
        SessionId::parse(text).map_err(|error| {
            Failure::usage(error.to_string(), "`regreen status` lists the sessions")
        })
    };
    arguments.session.as_deref().map(parse).transpose()
}

/// Writes and prints the report. Annotations go to standard error: standard output is the report.
fn show(report: &ValidationReport, folder: Option<&Path>, json: bool) -> Result<(), Failure> {
    let document = serde_json::to_string_pretty(&report).unwrap_or_default() + "\n";
    if let Some(folder) = folder {
        files::create_folder(folder).map_err(|source| failed(folder, source))?;
        let quality = report.tests.as_ref();
        for (name, text) in [
            ("code-validation-report.json", Some(document.clone())),
            ("code-validation-report.md", Some(render_markdown(report))),
            ("test-quality-report.md", quality.map(test_quality::render_markdown)),
        ] {
            let Some(text) = text else { continue };
            let path = folder.join(name);
            files::write(&path, text.as_bytes()).map_err(|source| failed(&path, source))?;
        }
    }
    if environment::path_from("GITHUB_ACTIONS").is_some_and(|value| value.as_os_str() == "true") {
        for annotation in annotations(report) {
            eprintln!("{annotation}");
        }
    }
    print!("{}", if json { document } else { render_text(report) });
    Ok(())
}

fn failed(path: &Path, source: std::io::Error) -> Failure {
    StoreError::Io { action: "write", path: path.to_owned(), source }.into()
}

/// The repository that the paths lie in, and where in it.
fn place(paths: &[PathBuf]) -> Result<(RepositoryFacts, Vec<String>), Failure> {
    let current = [PathBuf::from(".")];
    let paths = if paths.is_empty() { &current[..] } else { paths };
    let mut facts: Option<RepositoryFacts> = None;
    let mut below = Vec::new();
    for path in paths {
        let full = path.canonicalize().map_err(|error| {
            Failure::usage(
                format!("{}: {error}", path.display()),
                "name files and folders that exist",
            )
        })?;
        let folder = if full.is_dir() { full.as_path() } else { full.parent().unwrap_or(&full) };
        let found = match facts.take() {
            Some(found) => found,
            None => repo::discover(folder)?,
        };
        let relative =
            full.strip_prefix(&found.root).ok().and_then(Path::to_str).ok_or_else(|| {
                Failure::usage(
                    format!("{} is not in {}", path.display(), found.root.display()),
                    "name paths of one repository",
                )
            })?;
        below.push(relative.to_owned());
        facts = Some(found);
    }
    let facts = facts.ok_or_else(|| Failure::usage("no path is named", "name a repository"))?;
    Ok((facts, below))
}

/// What one look brought.
struct Looked {
    files: usize,
    findings: Vec<Finding>,
    skipped: Vec<Skipped>,
    repairs: BTreeMap<RepoPath, (String, Vec<Finding>)>,
    metrics: Option<TestMetrics>,
}

/// What does not change between two looks.
struct Desk<'a> {
    arguments: &'a ValidateArguments,
    facts: &'a RepositoryFacts,
    chosen: &'a BTreeSet<RepoPath>,
    scratch: &'a Path,
    commands: &'a ToolCommands,
}

impl Desk<'_> {
    /// Looks at the files, and asks the tools of the project.
    async fn look(&self, sources: &Sources) -> Looked {
        let mut reviewed = self.review(sources);
        let mut skipped = Vec::new();
        self.second_opinion(&mut reviewed.findings, &mut skipped);
        if !reviewed.made.is_empty() {
            skipped.push(Skipped {
                what: reviewed
                    .made
                    .iter()
                    .take(3)
                    .map(RepoPath::as_str)
                    .collect::<Vec<_>>()
                    .join(", "),
                reason: format!(
                    "{} made by a program, copied, or data of tests",
                    reviewed.made.len()
                ),
            });
        }
        skipped.extend(reviewed.deep.iter().map(|file| Skipped {
            what: file.as_str().to_owned(),
            reason: "it is nested too deeply".into(),
        }));
        let own: BTreeSet<RepoPath> =
            self.chosen.iter().filter(|file| !reviewed.made.contains(file)).cloned().collect();
        let mut looked = Looked {
            files: own.len(),
            findings: reviewed.findings,
            skipped,
            repairs: reviewed.repairs,
            metrics: reviewed.metrics,
        };
        self.tools(&own, sources, &mut looked).await;
        looked.findings.sort_by(|one, other| {
            (&one.file, one.line, &one.id).cmp(&(&other.file, other.line, &other.id))
        });
        looked
    }

    fn review(&self, sources: &Sources) -> Reviewed {
        let list: Vec<&RepoPath> = self.chosen.iter().collect();
        let installed = repo::installed(self.facts, &asked(self.chosen, sources));
        review(&Review {
            files: &sources.files,
            chosen: &list,
            installed: &installed,
            tests: self.arguments.tests,
        })
    }

    /// Takes back what our grammar alone calls broken.
    fn second_opinion(&self, findings: &mut Vec<Finding>, skipped: &mut Vec<Skipped>) {
        let doubted: Vec<RepoPath> = findings
            .iter()
            .filter(|one| one.id == "syntax-error")
            .map(|one| one.file.clone())
            .collect();
        if doubted.is_empty() || self.arguments.skip_tools {
            return;
        }
        let accepted = suite::accepted(&self.facts.root, self.scratch, &doubted);
        findings.retain(|one| one.id != "syntax-error" || !accepted.contains_key(&one.file));
        skipped.extend(accepted.into_iter().map(|(file, tool)| Skipped {
            what: file.as_str().to_owned(),
            reason: format!("only {tool} can read it"),
        }));
    }

    /// Asks the tools of the project: types, rules, formatting.
    async fn tools(&self, own: &BTreeSet<RepoPath>, sources: &Sources, looked: &mut Looked) {
        let skip =
            |flag: &str| Skipped { what: "the project's own tools".into(), reason: flag.into() };
        if self.arguments.skip_tools {
            looked.skipped.push(skip("--skip-tools"));
            return;
        }
        let mut concerns = vec![Concern::Rules, Concern::Format];
        if self.arguments.skip_types {
            looked.skipped.push(skip("--skip-types"));
        } else {
            concerns.push(Concern::Types);
        }
        if own.is_empty() {
            return;
        }
        let said = suite::tools(&self.facts.root, self.scratch, &concerns, self.commands).await;
        looked
            .skipped
            .extend(said.skipped.iter().cloned().map(|(what, reason)| Skipped { what, reason }));
        for concern in [Concern::Types, Concern::Rules] {
            add(&mut looked.findings, told(concern, &said.remarks, own, |_| false));
        }
        let loose = said.remarks.iter().filter(|one| one.0 == Concern::Format).map(|one| &one.1);
        let mut texts: BTreeMap<RepoPath, String> = BTreeMap::new();
        for (file, _, _) in loose.filter(|one| own.contains(&one.0)) {
            texts.extend(
                suite::formatted(&self.facts.root, self.scratch, file)
                    .filter(|text| sources.files.get(file) != Some(text))
                    .map(|text| (file.clone(), text)),
            );
        }
        let told = told(Concern::Format, &said.remarks, own, |file| texts.contains_key(file));
        for (file, text) in texts {
            // What is cut out is formatted the next time.
            let gone = told.iter().filter(|one| one.file == file).cloned().collect();
            looked.repairs.entry(file).or_insert((text, gone));
        }
        looked.findings.extend(told);
    }
}

/// Packages that scripts ask for by a path inside them.
fn asked(chosen: &BTreeSet<RepoPath>, sources: &Sources) -> BTreeSet<String> {
    let mut asked = BTreeSet::new();
    for text in chosen.iter().filter_map(|file| sources.files.get(file)) {
        for quoted in text.split(['"', '\'']).skip(1).step_by(2).filter(|one| one.len() < 100) {
            let depth = if quoted.starts_with('@') { 2 } else { 1 };
            let parts: Vec<&str> = quoted.split('/').collect();
            let plain = |c: char| c.is_ascii_alphanumeric() || "@/._-".contains(c);
            if parts.len() > depth
                && !parts.contains(&"..")
                && !quoted.starts_with(['.', '/'])
                && quoted.chars().all(plain)
            {
                asked.insert(parts.get(..depth).unwrap_or_default().join("/"));
            }
        }
    }
    asked
}

/// The sources to look at: below the paths that were named, of these globs, changed since.
fn choose(
    arguments: &ValidateArguments,
    facts: &RepositoryFacts,
    below: &[String],
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
    let is_below = |file: &RepoPath| {
        below.iter().any(|place| {
            place.is_empty()
                || file
                    .as_str()
                    .strip_prefix(place.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    };
    Ok(sources
        .files
        .keys()
        .filter(|file| crate::role::reads(file) && is_below(file))
        .filter(|file| arguments.files.is_empty() || globs.is_match(file.as_str()))
        .filter(|file| changed.as_ref().is_none_or(|changed| changed.contains(*file)))
        .cloned()
        .collect())
}
