//! Calls single functions in the project's interpreter and records how they behave, through the
//! drivers `driver/observe_python.py` and `driver/observe_node.mjs`. TypeScript uses what the
//! project has installed (`driver/observe_types.mjs`).
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
    Call, CallOutcome, Observation, ObserveRequest, Observer, ProbeRequest, ProbeResult,
    ResultKind, RunError, World,
};

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

#[derive(Serialize)]
struct CallsRequest<'a> {
    module: &'a str,
    path: String,
    root: String,
    bindings: &'a [(String, String)],
    calls: &'a [Call],
    trace: bool,
    reverse: bool,
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
        Self {
            module: request.module,
            path: request.root.join(request.file.as_str()).display().to_string(),
            root: request.root.display().to_string(),
            bindings: request.bindings,
            calls: request.calls,
            trace: request.world.number == 0,
            reverse: request.world.number % 2 == 1,
            limit: request.limit.as_secs_f64(),
            memory: MEMORY,
        }
    }
}

#[derive(Deserialize)]
struct CallRecord {
    index: Option<usize>,
    refused: Option<String>,
    value: Option<String>,
    way: Option<ResultKind>,
    raised: Option<String>,
    #[serde(default)]
    message: String,
    #[serde(default)]
    explicit: bool,
    #[serde(default)]
    after: Vec<(usize, String)>,
    #[serde(default)]
    needs: Vec<String>,
    #[serde(default)]
    lines: Vec<u32>,
    #[serde(default)]
    marks: Vec<String>,
}

impl From<CallRecord> for Observation {
    fn from(record: CallRecord) -> Self {
        let way = record.way.unwrap_or(ResultKind::Plain);
        let outcome = match (record.refused, record.value, record.raised) {
            (Some(reason), _, _) => CallOutcome::Refused(reason),
            (None, Some(literal), _) => CallOutcome::Value { literal, way },
            (None, None, Some(class)) => CallOutcome::Raised {
                class,
                message: record.message,
                explicit: record.explicit,
                way,
            },
            (None, None, None) => CallOutcome::Refused("its result was lost".into()),
        };
        Self {
            outcome,
            after: record.after,
            needs: record.needs,
            lines: record.lines,
            marks: record.marks,
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
                vec![self.site(request.root).find_python(), driver("observe_python.py")]
            }
            Some(Language::JavaScript | Language::TypeScript | Language::Tsx) => {
                vec!["node".to_owned(), driver("observe_node.mjs")]
            }
            _ => return Ok(None),
        };
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
        Ok(Some(Invocation { argv, directory, environment, access: Some(access) }))
    }
}

#[async_trait]
impl Observer for ProjectSuite<'_> {
    async fn observe(&self, request: &ObserveRequest<'_>) -> Result<Vec<Observation>, RunError> {
        let lost = || Observation::refused("the process that made the call ended");
        let mut found: Vec<Observation> = request.calls.iter().map(|_| lost()).collect();
        let Some(invocation) = self.caller(request)? else {
            let unknown = Observation::refused(
                "calls can be watched in Python, JavaScript and TypeScript only",
            );
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines as the two drivers write them, recorded with Python 3.11 and Node.js 20.
    #[test]
    fn recorded_answers_of_both_drivers_become_observations() {
        let value = |literal: &str, way| CallOutcome::Value { literal: literal.into(), way };
        let table = [
            (
                r#"{"value": "[0, 1, 2]", "way": "list", "after": [], "needs": [], "lines": [22], "marks": ["-21>22"], "index": 10}"#,
                value("[0, 1, 2]", ResultKind::List),
            ),
            (
                r#"{"raised": "ValueError", "message": "negative: -1", "explicit": true, "way": "plain", "after": [], "needs": [], "lines": [25], "marks": [], "index": 12}"#,
                CallOutcome::Raised {
                    class: "ValueError".into(),
                    message: "negative: -1".into(),
                    explicit: true,
                    way: ResultKind::Plain,
                },
            ),
            (
                r#"{"refused": "changes files", "index": 2}"#,
                CallOutcome::Refused("changes files".into()),
            ),
            (
                r#"{"index":10,"value":"undefined","way":"plain","after":[[0,"[1, 3]"]],"needs":[],"lines":[18],"marks":["r515-547"]}"#,
                value("undefined", ResultKind::Plain),
            ),
            (
                r#"{"index":16,"refused":"takes longer than 1 s"}"#,
                CallOutcome::Refused("takes longer than 1 s".into()),
            ),
            (r#"{"index":3}"#, CallOutcome::Refused("its result was lost".into())),
        ];
        for (line, outcome) in table {
            let record: CallRecord = serde_json::from_str(line).unwrap();
            assert!(record.index.is_some());
            assert_eq!(Observation::from(record).outcome, outcome, "{line}");
        }
        let end: CallRecord = serde_json::from_str(r#"{"end": true}"#).unwrap();
        assert!(end.index.is_none(), "the end is no observation");
    }
}
