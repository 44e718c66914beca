//! Flags, file and built-in values merged: one place for every verb (specification.md 2.6).

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::adapter::host::{files, sandbox};
use crate::config::{self, CommitState, History, Override, Publish, Settings};
use crate::domain::budget::{fraction_of_minutes, minutes};
use crate::domain::chain::Rules;
use crate::domain::coverage::CoverageTarget;
use crate::domain::fix_loop::{FixTerms, RegressionTrace};
use crate::domain::known_failure::{Day, KnownFailure};
use crate::domain::memory::Prior;
use crate::domain::quality::{FindingLimits, LIMITS, STRICT};
use crate::domain::request::{FixSettings, Mode, ToolCommands};
use crate::domain::threshold::Thresholds;

use super::AppError;

/// The settings of a repository: its file, or another one, overridden by `--set` and flags.
pub fn configured(
    root: &Path,
    other: Option<&PathBuf>,
    set: &[Override],
) -> Result<Settings, AppError> {
    let (path, shown) = match other {
        Some(path) => (path.clone(), path.display().to_string()),
        None => (root.join(config::PATH), config::PATH.to_owned()),
    };
    let bytes = files::read(&path, 1 << 20).map_err(|error| {
        AppError::usage(format!("{}: {error}", path.display()), "make it readable")
    })?;
    if other.is_some() && bytes.is_none() {
        return Err(AppError::usage(
            format!("{shown} does not exist"),
            "name the configuration file",
        ));
    }
    let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    config::parse_with(&text, &shown, set).map_err(|problems| {
        let text: Vec<String> = problems.iter().map(ToString::to_string).collect();
        let flags = problems.iter().all(|problem| problem.file != shown);
        let hint = if flags {
            "`regreen config schema` prints every key with its allowed values".to_owned()
        } else {
            format!("correct {shown}; `regreen config check` checks it")
        };
        AppError::usage(text.join("\n"), hint)
    })
}

/// Configures the sandbox of test code; fails for an image that no container engine can run.
pub fn contain(settings: &Settings) -> Result<(), AppError> {
    let Some(section) = &settings.sandbox else { return Ok(()) };
    if section.network == Some(false) {
        sandbox::close_network();
    }
    let Some(image) = &section.image else { return Ok(()) };
    sandbox::run_in(image, section.network == Some(true)).map_err(|error| {
        AppError::environment(
            format!("`sandbox.image` cannot be used: {error}"),
            "install docker or podman, or leave `sandbox.image` out",
        )
    })
}

/// The configured commands that replace detected tools.
pub fn tool_commands(settings: &Settings) -> ToolCommands {
    let tools = settings.tools.clone().unwrap_or_default();
    let coverage = settings.coverage.clone().unwrap_or_default();
    ToolCommands {
        lint: tools.lint,
        build: tools.build,
        coverage: coverage.command,
        coverage_report: coverage.report,
    }
}

/// The terms of the fix loop in a new session.
pub fn terms(
    request: &FixSettings,
    settings: &Settings,
    max_iterations: u32,
    has_base: bool,
    minimise: bool,
    today: Day,
    prior: Prior,
) -> FixTerms {
    FixTerms {
        target: request.target,
        max_iterations,
        commits: request.mode == Mode::Apply,
        dry_run: request.mode == Mode::DryRun,
        has_base,
        minimise,
        regressed: match settings.history {
            None | Some(History::Revert) => RegressionTrace::Commits,
            Some(History::Clean) => RegressionTrace::Patch,
        },
        state_is_committed: state_is_committed(settings),
        ignore_preexisting: settings.ignore_preexisting == Some(true),
        thresholds: thresholds(settings),
        scope: settings.scope(),
        known_failures: known_failures(settings)
            .filter(|known| !known.has_expired(today))
            .collect(),
        not_run: Vec::new(),
        prior,
    }
}

/// The known failures of the configuration, expired ones included.
fn known_failures(settings: &Settings) -> impl Iterator<Item = KnownFailure> {
    let entries = settings.gate.iter().filter_map(|gate| gate.known_failures.as_ref()).flatten();
    entries.filter_map(|(test, text)| KnownFailure::parse(test, text))
}

/// A notice for each known failure that is excused no more.
pub fn expired_failures(settings: &Settings, today: Day) -> impl Iterator<Item = String> {
    known_failures(settings).filter(move |known| known.has_expired(today)).map(|known| {
        format!(
            "the known failure of `{}` has expired on {}: the entry excuses nothing any more",
            known.test, known.until
        )
    })
}

/// Whether the state of a session is stored in its commits.
pub fn state_is_committed(settings: &Settings) -> bool {
    settings.commit_state != Some(CommitState::None)
}

/// Minutes of the embedded engine when nothing else is configured: as long as somebody waits for it.
const ENGINE_MINUTES: u64 = 6;

/// How long the embedded engine may write and judge tests, from the flag or the file.
pub fn engine_time(flag: Option<f64>, settings: &Settings) -> Duration {
    let section = settings.budget.as_ref().and_then(|budget| budget.engine_minutes);
    flag.map_or_else(|| minutes(section.unwrap_or(ENGINE_MINUTES)), fraction_of_minutes)
}

/// How many findings the gates on code and tests tolerate.
pub fn limits(settings: &Settings) -> FindingLimits {
    let strict = settings.validate.as_ref().and_then(|section| section.strict) == Some(true);
    if strict { STRICT } else { LIMITS }
}

fn thresholds(settings: &Settings) -> Thresholds {
    let (section, at) = (settings.fix_loop.clone().unwrap_or_default(), Thresholds::default());
    Thresholds {
        regression_points: section.regression_threshold.unwrap_or(at.regression_points),
        stuck_results: section.stuck_threshold.unwrap_or(at.stuck_results),
        stuck_abort: section.stuck_abort_ratio.unwrap_or(at.stuck_abort),
        similarity: section.similarity_threshold.unwrap_or(at.similarity),
        aggressive_rate: section.aggressive_min_rate.unwrap_or(at.aggressive_rate),
    }
}

/// When the answer of a provider is good enough.
pub fn rules(settings: &Settings) -> Rules {
    let (section, at) = (settings.analysis.clone().unwrap_or_default(), Rules::default());
    let number = |value: Option<u32>| value.and_then(|value| usize::try_from(value).ok());
    Rules {
        min_confidence: section.min_confidence.unwrap_or(at.min_confidence),
        same_cause_limit: number(section.same_cause_limit).unwrap_or(at.same_cause_limit),
        ..at
    }
}

/// The coverage that test planning aims at.
pub fn coverage_target(settings: &Settings) -> CoverageTarget {
    let (section, at) = (settings.coverage.clone().unwrap_or_default(), CoverageTarget::default());
    CoverageTarget {
        line: section.line.unwrap_or(at.line),
        branch: section.branch.unwrap_or(at.branch),
        function: section.function.unwrap_or(at.function),
        branch_is_set: section.branch.is_some(),
    }
}

/// Whether a run makes patches instead of commits; a bundle always carries commits.
pub fn patches_only(settings: &Settings, bundled: bool) -> bool {
    settings.publish() == Publish::Suggest && !bundled
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::guard::FixScope;
    use crate::domain::session::{SessionChoice, SessionKind};

    /// The change that one key makes.
    type Change = fn(&mut FixTerms);

    fn request() -> FixSettings {
        FixSettings {
            repository: PathBuf::new(),
            test_command: None,
            report: None,
            setup: Vec::new(),
            test_timeout: Duration::from_secs(1),
            target: 95,
            max_iterations: None,
            session: SessionChoice::default(),
            branch: None,
            base: None,
            budget: None,
            jobs: 1,
            kind: SessionKind::Test,
            module: None,
            mode: Mode::Apply,
            layers: std::collections::BTreeMap::new(),
            tools: ToolCommands::default(),
        }
    }

    #[test]
    fn a_configuration_that_is_named_must_exist() {
        let root = tempfile::tempdir().unwrap();
        let named = root.path().join("regreen.yml");
        assert_eq!(configured(root.path(), None, &[]).unwrap(), Settings::default());
        let error = configured(root.path(), Some(&named), &[]).unwrap_err();
        assert!(error.message.ends_with("regreen.yml does not exist"), "{error:?}");
        files::write(&named, b"gate: { target: 97 }").unwrap();
        let settings = configured(root.path(), Some(&named), &[]).unwrap();
        assert_eq!(settings.gate.unwrap().target, Some(97));
    }

    #[test]
    fn every_key_of_the_loop_reaches_the_terms() {
        let read = |text: &str| {
            let settings = config::parse(text, "f").unwrap();
            terms(
                &request(),
                &settings,
                10,
                false,
                true,
                "2026-12-01".parse().unwrap(),
                Prior::default(),
            )
        };
        let plain = read("");
        assert_eq!(plain.thresholds, Thresholds::default());
        assert!(plain.state_is_committed && !plain.ignore_preexisting);
        let table: [(&str, Change); 11] = [
            ("history: clean", |terms| terms.regressed = RegressionTrace::Patch),
            ("commit-state: none", |terms| terms.state_is_committed = false),
            ("ignore-preexisting: true", |terms| terms.ignore_preexisting = true),
            ("loop: { fix-scope: tests }", |terms| terms.scope = FixScope::Tests),
            ("loop: { regression-threshold: 0 }", |terms| terms.thresholds.regression_points = 0),
            ("loop: { stuck-threshold: 5 }", |terms| terms.thresholds.stuck_results = 5),
            ("loop: { stuck-abort-ratio: 0.25 }", |terms| terms.thresholds.stuck_abort = 0.25),
            ("loop: { similarity-threshold: 1 }", |terms| terms.thresholds.similarity = 1.0),
            ("loop: { aggressive-min-rate: 50 }", |terms| terms.thresholds.aggressive_rate = 50),
            ("gate: { known-failures: { t: '2026-12-01, why' } }", |terms| {
                terms.known_failures.extend(KnownFailure::parse("t", "2026-12-01, why"));
            }),
            ("gate: { known-failures: { t: '2026-11-30, why' } }", |_| {}),
        ];
        for (text, change) in table {
            let mut expected = plain.clone();
            change(&mut expected);
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn rules_and_targets_are_those_of_the_file() {
        let text = "analysis: { min-confidence: 0.9, same-cause-limit: 2 }\ncoverage: { line: 10, branch: 20, function: 30 }\n";
        let settings = config::parse(text, "f").unwrap();
        let expected = Rules { min_confidence: 0.9, same_cause_limit: 2, ..Rules::default() };
        assert_eq!(rules(&settings), expected);
        let expected = CoverageTarget { line: 10, branch: 20, function: 30, branch_is_set: true };
        assert_eq!(coverage_target(&settings), expected);
        assert_eq!(rules(&Settings::default()), Rules::default());
        assert_eq!(coverage_target(&Settings::default()), CoverageTarget::default());
    }

    #[test]
    fn the_engine_ends_by_itself() {
        let file = config::parse("budget: { engine-minutes: 20 }", "f").unwrap();
        let table = [
            (None, &Settings::default(), 360),
            (None, &file, 1200),
            (Some(2.0), &file, 120),
            (Some(0.5), &file, 30),
            (Some(1e9), &file, 600_000),
        ];
        for (flag, settings, seconds) in table {
            assert_eq!(engine_time(flag, settings), Duration::from_secs(seconds), "{flag:?}");
        }
    }

    #[test]
    fn strict_gates_tolerate_no_error() {
        let strict = config::parse("validate: { strict: true }", "f").unwrap();
        assert_eq!(limits(&strict), STRICT);
        assert_eq!(limits(&Settings::default()), LIMITS);
    }

    #[test]
    fn patches_are_made_for_suggestions_and_never_for_a_bundle() {
        let table = [
            ("", false),
            ("publish: branch", false),
            ("publish: head", false),
            ("publish: none", false),
            ("publish: suggest", true),
        ];
        for (text, patches) in table {
            let settings = config::parse(text, "f").unwrap();
            assert_eq!(patches_only(&settings, false), patches, "{text}");
            assert!(!patches_only(&settings, true), "{text}");
        }
    }
}
