//! Flags as requests.

use crate::app::{AppError, CodeSelection, FixRequest, ModelOptions, TestRequest, ValidateRequest};
use crate::config::Override;
use crate::domain::id::SessionId;
use crate::domain::request::Mode;
use crate::domain::session::SessionChoice;

use super::args::{
    ConfirmPlanArgument, FixArguments, PlanArguments, SubjectArguments, ValidateArguments,
};
use super::asking::AskingArguments;

/// The request of `fix`.
///
/// # Errors
///
/// When a session id is malformed.
pub fn fix(arguments: &FixArguments) -> Result<FixRequest, AppError> {
    if arguments.publish.as_deref() == Some("head") && arguments.bundle.is_none() {
        return Err(AppError::usage(
            "`--publish head` is for the Action; here a result stays on its fix branch",
            "merge the fix branch yourself",
        ));
    }
    let ignore = arguments.ignore_preexisting.then_some("true");
    let flags = [
        flag("history", "history", arguments.history.as_deref()),
        flag("commit-state", "commit-state", arguments.commit_state.as_deref()),
        flag("ignore-preexisting", "ignore-preexisting", ignore),
        flag("fix-scope", "loop.fix-scope", arguments.fix_scope.as_deref()),
        flag("sandbox-image", "sandbox.image", arguments.sandbox_image.as_deref()),
        flag("publish", "publish", arguments.publish.as_deref()),
    ];
    Ok(FixRequest {
        repository: arguments.repository.clone(),
        session: choice(
            arguments.resume.as_deref(),
            arguments.session.as_deref(),
            "`regreen status` lists the sessions",
        )?,
        mode: if arguments.dry_run {
            Mode::DryRun
        } else if arguments.suggest {
            Mode::Suggest
        } else {
            Mode::Apply
        },
        branch: arguments.branch.clone(),
        base: arguments.base.clone(),
        test_command: arguments.test_command.clone(),
        setup: arguments.setup.clone(),
        report: arguments.report.clone(),
        test_timeout: arguments.test_timeout.clone(),
        target: arguments.target,
        max_iterations: arguments.max_iterations,
        jobs: arguments.jobs,
        no_minimise: arguments.no_minimise,
        models: models(&arguments.asking),
        config: arguments.config.clone(),
        set: overrides(flags, &arguments.set),
        bundle: arguments.bundle.clone(),
        html: arguments.html.clone(),
    })
}

/// The request of `plan` and `test`.
///
/// # Errors
///
/// When a session id is malformed.
pub fn test(arguments: &PlanArguments) -> Result<TestRequest, AppError> {
    let confirm = arguments.confirm_plan.map(|when| match when {
        ConfirmPlanArgument::Never => "never",
        ConfirmPlanArgument::Always => "always",
    });
    let score = arguments.min_mutation_score.map(|percent| percent.to_string());
    let minutes = arguments.engine_minutes.map(|minutes| minutes.to_string());
    let flags = [
        flag("engine-minutes", "budget.engine-minutes", minutes.as_deref()),
        flag("confirm-plan", "plan.confirm", confirm),
        flag("min-mutation-score", "gate.min-mutation-score", score.as_deref()),
        flag("coverage-command", "coverage.command", arguments.coverage_command.as_deref()),
    ];
    Ok(TestRequest {
        repository: arguments.repository.clone(),
        input: arguments.what.join(" "),
        session: choice(
            arguments.resume.as_deref(),
            arguments.session.as_deref(),
            "`regreen session list` lists the sessions",
        )?,
        fresh: arguments.fresh,
        approve: arguments.yes,
        base: arguments.base.clone(),
        test_command: arguments.test_command.clone(),
        test_timeout: arguments.test_timeout.clone(),
        coverage_report: arguments.coverage_report.clone(),
        no_coverage: arguments.no_coverage,
        max_iterations: arguments.max_iterations,
        models: models(&arguments.asking),
        config: arguments.config.clone(),
        set: overrides(flags, &arguments.set),
        bundle: arguments.bundle.clone(),
    })
}

/// The request of `validate`.
///
/// # Errors
///
/// When the session id is malformed.
pub fn validate(arguments: &ValidateArguments) -> Result<ValidateRequest, AppError> {
    let yes = |flag: bool| flag.then_some("true");
    let files = (!arguments.files.is_empty())
        .then(|| serde_json::Value::from(arguments.files.clone()).to_string());
    let flags = [
        flag("files", "validate.files", files.as_deref()),
        flag("strict", "validate.strict", yes(arguments.strict)),
        flag("fix", "validate.fix", yes(arguments.fix)),
        flag("skip-types", "validate.skip-types", yes(arguments.skip_types)),
        flag("lint-command", "tools.lint", arguments.lint_command.as_deref()),
        flag("build-command", "tools.build", arguments.build_command.as_deref()),
    ];
    let session = arguments.session.as_deref();
    Ok(ValidateRequest {
        paths: arguments.paths.clone(),
        base: arguments.base.clone(),
        skip_tools: arguments.skip_tools,
        tests: arguments.tests,
        session: session
            .map(|text| session_id(text, "`regreen status` lists the sessions"))
            .transpose()?,
        report: arguments.report.clone(),
        config: arguments.config.clone(),
        set: overrides(flags, &arguments.set),
    })
}

impl SubjectArguments {
    /// The code that these flags select.
    pub fn selection(&self) -> CodeSelection {
        CodeSelection {
            paths: self.paths.clone(),
            repository: self.repository.clone(),
            test_command: self.test_command.clone(),
            test_timeout: self.test_timeout.clone(),
            min_mutation_score: self.min_mutation_score,
            budget_minutes: self.budget_minutes,
            jobs: self.jobs,
            config: self.config.clone(),
            set: self.set.clone(),
        }
    }
}

fn models(arguments: &AskingArguments) -> ModelOptions {
    ModelOptions {
        providers: arguments.providers.clone(),
        budget_minutes: arguments.budget_minutes,
        budget_usd: arguments.budget_usd,
        budget_tokens: arguments.budget_tokens,
        budget_calls: arguments.budget_calls,
        record: arguments.record.clone(),
        replay: arguments.replay.clone(),
    }
}

/// The session that `--resume` and `--session` mean; an empty `--resume` means the newest.
fn choice(resume: Option<&str>, name: Option<&str>, hint: &str) -> Result<SessionChoice, AppError> {
    Ok(match (resume, name) {
        (Some(""), _) => SessionChoice::Newest,
        (Some(text), _) => SessionChoice::Resume { session: session_id(text, hint)? },
        (None, Some(text)) => {
            SessionChoice::New { name: Some(session_id(text, "use letters, digits, - and _")?) }
        }
        (None, None) => SessionChoice::default(),
    })
}

fn session_id(text: &str, hint: &str) -> Result<SessionId, AppError> {
    SessionId::parse(text).map_err(|error| AppError::usage(error.to_string(), hint))
}

/// A flag that stands for a key of the configuration file.
fn flag(name: &str, key: &str, value: Option<&str>) -> Option<Override> {
    value.map(|value| Override {
        key: key.to_owned(),
        value: value.to_owned(),
        by: format!("--{name}"),
    })
}

/// Flags that stand for keys come before `--set`, which is more explicit and wins.
fn overrides<const N: usize>(flags: [Option<Override>; N], set: &[Override]) -> Vec<Override> {
    flags.into_iter().flatten().chain(set.iter().cloned()).collect()
}
