//! Builds the worker's job. Text from a comment stays data in it and never becomes an argument.

use std::path::{Path, PathBuf};

use crate::adapter::host::files;
use crate::app::{
    FixRequest, IntegrationRequest, Job, ModelOptions, RunOptions, TestRequest, ValidateRequest,
};
use crate::config::Override;
use crate::domain::budget::minutes;
use crate::domain::command::{Flags, RunLimits};
use crate::domain::request::{MemorySource, Mode};
use crate::domain::session::SessionChoice;

use super::context::Context;
use super::error::BotError;
use super::prepare;
use super::session_choice::{Start, Task};

/// The job of a run, within `limits`, with the folder of its bundle and its memory.
pub fn of_run(
    context: &Context<'_>,
    start: &Start,
    limits: &RunLimits,
    flags: &Flags,
    (bundle, memory): (&Path, MemorySource),
) -> Result<Job, BotError> {
    let session = start.session.clone();
    let models = ModelOptions {
        budget_minutes: limits.minutes.map(|count| minutes(count).as_secs_f64() / 60.0),
        budget_usd: limits.usd,
        budget_tokens: limits.tokens,
        budget_calls: limits.calls,
        ..ModelOptions::default()
    };
    let fix = FixRequest {
        repository: start.facts.root.clone(),
        no_minimise: flags.no_minimise,
        run: RunOptions {
            session: SessionChoice::New { name: Some(session.clone()) },
            base: base(context),
            max_iterations: limits.max_iterations,
            config: Some(write_configuration(context)?),
            set: context.env.inputs.overrides.clone(),
            bundle: Some(bundle.to_owned()),
            memory,
            ..RunOptions::default()
        },
        models,
        ..FixRequest::default()
    };
    let test = |input: &str| TestRequest {
        repository: fix.repository.clone(),
        input: input.to_owned(),
        fresh: true,
        only_missing: flags.only_missing,
        run: fix.run.clone(),
        models: fix.models.clone(),
        ..TestRequest::default()
    };
    let resume = RunOptions { session: SessionChoice::Resume { session }, ..fix.run.clone() };
    Ok(match &start.task {
        Task::Test(what) => Job::Test(Box::new(test(what))),
        Task::Plan(what) => Job::Plan(Box::new(test(what))),
        Task::ContinueTest => {
            let request = TestRequest { run: resume, fresh: false, approve: true, ..test("") };
            Job::Test(Box::new(request))
        }
        task @ (Task::Integration(_) | Task::ContinueIntegration { .. }) => {
            Job::Integration(Box::new(integration_request(task, &fix, resume, flags.yes)))
        }
        Task::Fix => Job::Fix(Box::new(fix)),
        Task::ContinueFix => Job::Fix(Box::new(FixRequest { run: resume, ..fix })),
        Task::Explain => Job::Fix(Box::new(FixRequest { mode: Mode::DryRun, ..fix })),
    })
}

/// A request for integration tests with the options of a fix.
fn integration_request(
    task: &Task,
    fix: &FixRequest,
    resume: RunOptions,
    approve: bool,
) -> IntegrationRequest {
    let (repository, models) = (fix.repository.clone(), fix.models.clone());
    let mut request = IntegrationRequest { repository, approve, models, ..Default::default() };
    match task {
        Task::ContinueIntegration { adjustment, approves } => {
            (request.adjustment, request.approve) = (adjustment.clone(), *approves);
            request.run = resume;
        }
        Task::Integration(module) => {
            request.module.clone_from(module);
            request.run = fix.run.clone();
        }
        _ => {}
    }
    request
}

/// The job that checks the change in the checkout at `root`.
pub fn of_validation(
    context: &Context<'_>,
    root: PathBuf,
    strict: bool,
    fix: bool,
) -> Result<Job, BotError> {
    let mut set = context.env.inputs.overrides.clone();
    let flags = [(strict, "validate.strict"), (fix, "validate.fix")];
    set.extend(flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, key)| Override {
        key: key.into(),
        value: "true".into(),
        by: "/regreen validate".into(),
    }));
    Ok(Job::Validate(Box::new(ValidateRequest {
        paths: vec![root],
        base: base(context),
        config: Some(write_configuration(context)?),
        set,
        original_lines: true,
        ..ValidateRequest::default()
    })))
}

/// The commit that the change is compared with.
fn base(context: &Context<'_>) -> Option<String> {
    context.prepared.base.as_ref().map(ToString::to_string)
}

/// Writes the configuration of the base branch to a file. The one in the checkout belongs to the
/// change under test, and it names commands that are executed.
fn write_configuration(context: &Context<'_>) -> Result<PathBuf, BotError> {
    let file = prepare::folder(context.target).join("regreen.yml");
    files::write(&file, context.prepared.text.as_bytes())
        .map_err(|error| BotError::io(&file, &error))?;
    Ok(file)
}
