//! Converts parsed flags into the requests of `app`.

use crate::app::{AppError, FixRequest, IntegrationRequest, TestRequest, ValidateRequest};
use crate::config::Override;
use crate::domain::id::SessionId;
use crate::domain::request::Mode;
use crate::domain::session::SessionChoice;

use super::args::{FixArguments, IntegrationArguments, PlanArguments, ValidateArguments};

/// The request of `fix`, unless a session id or the way of publishing is invalid.
pub fn fix(arguments: FixArguments) -> Result<FixRequest, AppError> {
    let mut request = arguments.request;
    if arguments.publish.as_deref() == Some("head") && request.run.bundle.is_none() {
        return Err(AppError::usage(
            "`--publish head` is for the Action; here a result stays on its fix branch",
            "merge the fix branch yourself",
        ));
    }
    request.run.session =
        choice(arguments.resume, arguments.session, "`regreen status` lists the sessions")?;
    request.mode = if arguments.dry_run { Mode::DryRun } else { Mode::Apply };
    let ignore = arguments.ignore_preexisting.then(|| "true".to_owned());
    let flags = [
        ("history", "history", arguments.history),
        ("commit-state", "commit-state", arguments.commit_state),
        ("ignore-preexisting", "ignore-preexisting", ignore),
        ("fix-scope", "loop.fix-scope", arguments.fix_scope),
        ("sandbox-image", "sandbox.image", arguments.sandbox_image),
        ("publish", "publish", arguments.publish),
    ];
    override_by(&mut request.run.set, flags);
    Ok(request)
}

/// The request of `plan` and `test`.
pub fn test(arguments: PlanArguments) -> Result<TestRequest, AppError> {
    let mut request = arguments.request;
    request.input = arguments.what.join(" ");
    request.run.session =
        choice(arguments.resume, arguments.session, "`regreen session list` lists the sessions")?;
    let minutes = arguments.engine_minutes.map(|minutes| minutes.to_string());
    let score = arguments.min_mutation_score.map(|percent| percent.to_string());
    let flags = [
        ("engine-minutes", "budget.engine-minutes", minutes),
        ("confirm-plan", "plan.confirm", arguments.confirm_plan),
        ("min-mutation-score", "gate.min-mutation-score", score),
        ("coverage-command", "coverage.command", arguments.coverage_command),
    ];
    override_by(&mut request.run.set, flags);
    Ok(request)
}

/// The request of `integration`.
pub fn integration_request(
    arguments: IntegrationArguments,
) -> Result<IntegrationRequest, AppError> {
    let mut request = arguments.request;
    request.module = arguments.module.join(" ");
    request.mode = if arguments.dry_run { Mode::DryRun } else { Mode::Apply };
    request.run.session = choice(arguments.resume, None, "`regreen status` lists the sessions")?;
    let minutes = arguments.engine_minutes.map(|minutes| minutes.to_string());
    override_by(&mut request.run.set, [("engine-minutes", "budget.engine-minutes", minutes)]);
    Ok(request)
}

/// The request of `validate`.
pub fn validate(arguments: ValidateArguments) -> ValidateRequest {
    let mut request = arguments.request;
    let yes = |flag: bool| flag.then(|| "true".to_owned());
    let files = arguments.files;
    let files = (!files.is_empty()).then(|| serde_json::Value::from(files).to_string());
    let flags = [
        ("files", "validate.files", files),
        ("strict", "validate.strict", yes(arguments.strict)),
        ("fix", "validate.fix", yes(arguments.fix)),
        ("skip-types", "validate.skip-types", yes(arguments.skip_types)),
        ("lint-command", "tools.lint", arguments.lint_command),
        ("build-command", "tools.build", arguments.build_command),
    ];
    override_by(&mut request.set, flags);
    request
}

/// The session that `--resume` or `--session` selects; an empty `--resume` selects the newest.
fn choice(
    resume: Option<String>,
    name: Option<String>,
    hint: &str,
) -> Result<SessionChoice, AppError> {
    let id = |text: String, hint: &str| {
        SessionId::parse(text).map_err(|error| AppError::usage(error.to_string(), hint))
    };
    Ok(match (resume, name) {
        (Some(text), _) if text.is_empty() => SessionChoice::Newest,
        (Some(text), _) => SessionChoice::Resume { session: id(text, hint)? },
        (None, Some(text)) => {
            SessionChoice::New { name: Some(id(text, "use letters, digits, - and _")?) }
        }
        (None, None) => SessionChoice::default(),
    })
}

/// Inserts flags for keys before the values of `--set`, which are explicit and win.
fn override_by<const N: usize>(set: &mut Vec<Override>, flags: [(&str, &str, Option<String>); N]) {
    let flags = flags.into_iter().filter_map(|(name, key, value)| {
        Some(Override { key: key.to_owned(), value: value?, by: format!("--{name}") })
    });
    set.splice(0..0, flags.collect::<Vec<_>>());
}
