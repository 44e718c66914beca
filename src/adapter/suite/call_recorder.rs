//! Calls single functions in the project's interpreter and records how they behave, through the
//! drivers `driver/observe_python.py` and `driver/observe_node.mjs`. TypeScript uses what the
//! project has installed (`driver/observe_types.mjs`). Compiled languages have programs of their own.
//!
//! The child cannot write to the checkout, so a call that escapes observation changes nothing that
//! is tested afterwards.

use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::adapter::host::files;
use crate::adapter::host::process::Invocation;
use crate::adapter::host::sandbox::Access;
use crate::code::language::Language;
use crate::effect::{
    Call, Observation, ObserveRequest, Observer, ProbeRequest, ProbeResult, RunError, World,
};

use super::call_record::CallRecord;
use super::compiled_calls::is_compiled;
use super::io_error::cannot;
use super::line_server::LineServer;
use super::project_suite::{ProjectSuite, search_variable};

/// Time limit for starting an interpreter and loading a module.
const LOADING: Duration = Duration::from_secs(40);

/// Memory limit of a Python child, in bytes.
const MEMORY: u64 = 2 << 30;

/// Hash seed, time zone and locale of each world.
const ENVIRONMENTS: &[(&str, &str, &str)] = &[
    ("0", "UTC", "C.UTF-8"),
    ("1", "Asia/Kathmandu", "C"),
    ("4294967295", "America/St_Johns", "de_DE.UTF-8"),
];

/// How far the clock of each world is ahead, in days.
const SHIFTS: &[i32] = &[0, 4_051, -2_753];

#[derive(Serialize)]
struct CallsRequest<'a> {
    module: &'a str,
    path: String,
    root: String,
    bindings: &'a [(String, String)],
    files: &'a [(String, String)],
    calls: &'a [Call],
    trace: bool,
    reverse: bool,
    /// How far the clock is ahead, in days.
    shift: i32,
    limit: f64,
    memory: u64,
}

/// The same calls, to be made on changed texts.
#[derive(Serialize)]
struct ProbeCalls<'a> {
    #[serde(flatten)]
    observed: CallsRequest<'a>,
    texts: &'a [String],
    jobs: usize,
}

/// The calls that notice one text.
#[derive(Deserialize)]
struct ProbeRecord {
    index: Option<usize>,
    #[serde(default)]
    noticed: Vec<usize>,
}

impl<'a> From<&ObserveRequest<'a>> for CallsRequest<'a> {
    fn from(request: &ObserveRequest<'a>) -> Self {
        let number = usize::try_from(request.world.number).unwrap_or_default();
        Self {
            module: request.module,
            path: request.root.join(request.file.as_str()).display().to_string(),
            root: request.root.display().to_string(),
            bindings: request.bindings,
            files: request.files,
            calls: request.calls,
            trace: request.world.number == 0,
            reverse: request.world.number % 2 == 1,
            shift: SHIFTS.get(number).copied().unwrap_or_default(),
            limit: request.limit.as_secs_f64(),
            memory: MEMORY,
        }
    }
}

impl ProjectSuite<'_> {
    /// The child that makes the calls; `None` in a language without a driver.
    fn caller(&self, request: &ObserveRequest<'_>) -> Result<Option<Invocation>, RunError> {
        let drivers = self.settings.scratch.join("drivers");
        let driver = |name: &str| drivers.join(name).display().to_string();
        let argv = match Language::of(request.file) {
            Some(Language::Python) => {
                let framework = self.detection.facts.framework.to_string();
                vec![self.site(request.root).find_python(), driver("observe_python.py"), framework]
            }
            Some(Language::JavaScript | Language::TypeScript | Language::Tsx) => {
                vec!["node".to_owned(), driver("observe_node.mjs")]
            }
            _ => return Ok(None),
        };
        self.watched_child(request, argv).map(Some)
    }

    /// A child that runs code of a checkout in the world of a request and cannot change the checkout.
    pub(super) fn watched_child(
        &self,
        request: &ObserveRequest<'_>,
        argv: Vec<String>,
    ) -> Result<Invocation, RunError> {
        let drivers = self.settings.scratch.join("drivers");
        let World { number } = request.world;
        // A separate folder reveals calls that read or write files by relative paths.
        let directory = self.settings.scratch.join(format!("world-{number}"));
        files::create_folder(&directory).map_err(cannot("create", &directory))?;
        let mut environment = self.environment(request.root);
        // Modules are imported by their paths, wherever the calls are made.
        let folder = self.site(request.root).working_folder();
        let sources = [folder.join("src"), request.root.join("src"), folder];
        let sources = sources.into_iter().filter(|path| path.is_dir());
        let search = [drivers.clone()].into_iter().chain(sources);
        environment.extend(search_variable("PYTHONPATH", search));
        let index = usize::try_from(number).unwrap_or_default() % ENVIRONMENTS.len();
        if let Some((seed, zone, language)) = ENVIRONMENTS.get(index) {
            for (name, value) in [("PYTHONHASHSEED", seed), ("TZ", zone), ("LC_ALL", language)] {
                environment.insert(name.into(), (*value).to_owned());
            }
        }
        let access = Access {
            checkouts: Vec::new(),
            scratch: self.settings.scratch.clone(),
            protected: vec![
                request.root.to_owned(),
                self.detection.site.root.clone(),
                self.settings.session.clone(),
            ],
            ..Access::default()
        };
        Ok(Invocation { argv, directory, environment, access: Some(access) })
    }
}

#[async_trait]
impl Observer for ProjectSuite<'_> {
    async fn observe(&self, request: &ObserveRequest<'_>) -> Result<Vec<Observation>, RunError> {
        if Language::of(request.file).is_some_and(is_compiled) {
            return self.observe_compiled(request).await;
        }
        let lost = || Observation::refused("the process that made the call ended");
        let mut found: Vec<Observation> = request.calls.iter().map(|_| lost()).collect();
        let Some(invocation) = self.caller(request)? else {
            let unknown = Observation::refused("calls in its language cannot be watched");
            return Ok(request.calls.iter().map(|_| unknown.clone()).collect());
        };
        let failed = |error| not_started(&invocation, &error);
        let mut server = LineServer::start(&invocation).map_err(failed)?;
        server.send(&CallsRequest::from(request)).await.map_err(failed)?;
        // The results of one function arrive together, after all of its calls.
        let count = u32::try_from(request.calls.len()).unwrap_or(u32::MAX);
        let patience = LOADING + (request.limit + Duration::from_secs(2)) * count;
        // A process that stops answering leaves the remaining calls without a result.
        while let Ok(Some(record)) = server.receive::<CallRecord>(patience).await {
            let Some(index) = record.index else { break };
            if let Some(place) = found.get_mut(index) {
                *place = record.into();
            }
        }
        Ok(found)
    }

    async fn probe(&self, request: &ProbeRequest<'_>) -> Result<Option<ProbeResult>, RunError> {
        let observed = &request.observed;
        if Language::of(observed.file) == Some(Language::Python) {
            return Ok(None);
        }
        if Language::of(observed.file).is_some_and(is_compiled) {
            return self.probe_compiled(request).await;
        }
        let Some(invocation) = self.caller(observed)? else { return Ok(None) };
        let failed = |error| not_started(&invocation, &error);
        let mut server = LineServer::start(&invocation).map_err(failed)?;
        let observed = CallsRequest { trace: false, ..observed.into() };
        let asked = ProbeCalls { observed, texts: request.texts, jobs: request.jobs };
        server.send(&asked).await.map_err(failed)?;
        let mut found: ProbeResult = vec![None; request.texts.len()];
        let until = Instant::now() + request.time;
        while let Ok(Some(record)) =
            server.receive::<ProbeRecord>(until.saturating_duration_since(Instant::now())).await
        {
            let Some(index) = record.index else { break };
            if let Some(place) = found.get_mut(index) {
                *place = Some(record.noticed);
            }
        }
        Ok(Some(found))
    }
}

fn not_started(invocation: &Invocation, error: &std::io::Error) -> RunError {
    let command = invocation.argv.first().cloned().unwrap_or_default();
    RunError::NotStarted { command, reason: error.to_string() }
}
