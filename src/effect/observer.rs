//! Calls of single functions under observation, each result written as a literal.

use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::domain::id::RepoPath;

use super::RunError;

/// A call, as source text of the language. Arguments are separate, so that a changed one is seen.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Call {
    /// The callee: `total`, `Basket(3).total`, `new Basket(3).total`.
    pub callee: String,
    pub arguments: Vec<String>,
    /// Calls on the same object before it: `add("Ada", 250)`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub setup: Vec<String>,
    /// What variables of the environment are set to; others are not set.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<(String, String)>,
}

impl Call {
    /// A call with nothing before it.
    pub fn new(callee: impl Into<String>, arguments: Vec<String>) -> Self {
        let (setup, environment) = (Vec::new(), Vec::new());
        Self { callee: callee.into(), arguments, setup, environment }
    }
}

/// An environment that must not influence results: a call that depends on it gets no test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct World {
    /// 0 is the one in which coverage is recorded. The others have another hash seed, time zone,
    /// locale and folder, and odd ones make the calls in reverse order.
    pub number: u32,
}

/// Calls into one file, to be observed.
#[derive(Clone, Debug)]
pub struct ObserveRequest<'a> {
    pub root: &'a Path,
    pub file: &'a RepoPath,
    /// Python: the module's dotted name. JavaScript: unused.
    pub module: &'a str,
    /// JavaScript: local name and exported name of what is called, `default` for the default
    /// export, and `PATH#NAME` for what another file exports. Python: names that arguments use from
    /// other modules, and these.
    pub bindings: &'a [(String, String)],
    /// Python: files by their names, with literals of their texts; a call that names one finds it in its folder.
    pub files: &'a [(String, String)],
    pub calls: &'a [Call],
    pub world: World,
    pub limit: Duration,
}

/// Calls into changed texts of one file.
#[derive(Clone, Debug)]
pub struct ProbeRequest<'a> {
    /// The calls, and the file as it is.
    pub observed: ObserveRequest<'a>,
    /// Each is the whole file with one change.
    pub texts: &'a [String],
    /// Texts that are tried at the same time.
    pub jobs: usize,
    /// Texts that are not tried by then are left out.
    pub time: Duration,
}

/// For each text the indexes of the calls that notice its change, or `None` if it was not tried.
pub type ProbeResult = Vec<Option<Vec<usize>>>;

/// How the result of a call is obtained and compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResultKind {
    /// The result as the call returns it.
    Plain,
    /// The result after awaiting it.
    Await,
    /// The yielded items as a list.
    List,
    /// The first five items of many, as a list.
    FirstItems,
    /// The yielded items of each element, as a list of lists.
    Lists,
    /// Its text, as `str` gives it: the result itself has no literal.
    Text,
    /// Its attributes: the result itself has no literal.
    Attributes,
    /// The texts of its elements, as `str` gives them: these have no literals.
    Texts,
    /// What it prints; it returns nothing.
    Printed,
    /// Some of its public members, by name: it has others that have no literal.
    Members,
    /// What a context manager gives when it is entered.
    Entered,
    /// The attributes of a context manager that gives itself when it is entered.
    EnteredAttributes,
    /// NaN, which is equal to nothing.
    Nan,
    /// The result cannot be compared at all.
    None,
}

impl ResultKind {
    /// Whether it is what a context manager gives.
    pub fn is_entered(self) -> bool {
        matches!(self, Self::Entered | Self::EnteredAttributes)
    }
}

/// Result of one call. Texts come from the code under test: untrusted, and truncated by the driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallOutcome {
    Value {
        /// The value as a literal of the language.
        literal: String,
        way: ResultKind,
    },
    Raised {
        /// Class of the exception, as a test would name it.
        class: String,
        message: String,
        /// Whether an explicit `raise` or `throw` in the repository caused it.
        explicit: bool,
        way: ResultKind,
    },
    /// The call did something forbidden, or its result cannot be written as a literal; the reason.
    Refused(String),
}

/// A call and its outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    pub outcome: CallOutcome,
    /// Arguments that the call modified: index, and literal of the new value.
    pub after: Vec<(usize, String)>,
    /// Modules that the literals refer to.
    pub needs: Vec<String>,
    /// Lines of the file that ran; recorded in environment 0 only.
    pub lines: Vec<u32>,
    /// Files of the repository whose functions ran; `None` where that is not recorded.
    pub reached: Option<Vec<String>>,
    /// Opaque ids of the control-flow steps that ran; recorded in environment 0 only.
    pub marks: Vec<String>,
    /// What the prompt of Python shows of a result without a literal.
    pub printed: Option<String>,
    /// Whether it asked for the time, which is another one in each environment.
    pub reads_clock: bool,
    pub effects: CallEffects,
}

/// What a call did with the files and the environment around it; texts are literals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallEffects {
    /// Its folder, if it used that.
    pub folder: Option<CallFolder>,
    /// The variables of the environment that it asked for, with their values.
    pub asked: Vec<(String, Option<String>)>,
    /// What a command printed beside its result.
    pub output: Option<String>,
    /// Whether it used the database of Django, which each test has empty.
    pub uses_database: bool,
}

/// The files in the folder of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct CallFolder {
    /// Those that were there before, with their texts.
    pub given: Vec<(String, String)>,
    /// Those that it wrote or removed, with their texts afterwards.
    pub written: Vec<(String, Option<String>)>,
}

impl CallEffects {
    /// Whether a call changed files or printed something, which says what it does even if it returns nothing.
    #[must_use]
    pub fn shows_effect(&self) -> bool {
        self.output.is_some() || self.folder.as_ref().is_some_and(|one| !one.written.is_empty())
    }
}

impl Observation {
    /// An observation without a result.
    #[must_use]
    pub fn refused(reason: impl Into<String>) -> Self {
        Self {
            outcome: CallOutcome::Refused(reason.into()),
            after: Vec::new(),
            needs: Vec::new(),
            lines: Vec::new(),
            reached: None,
            marks: Vec::new(),
            printed: None,
            reads_clock: false,
            effects: CallEffects::default(),
        }
    }

    /// Whether both have the same result, apart from what only environment 0 records.
    pub fn agrees(&self, other: &Self) -> bool {
        self.outcome == other.outcome
            && self.after == other.after
            && self.needs == other.needs
            && self.effects == other.effects
    }
}

/// Calls functions in fresh, isolated processes.
#[async_trait]
pub trait Observer: Send + Sync {
    /// Makes the calls and returns one observation for each, in order. The checkout cannot change.
    /// A call that hangs or crashes is an observation, not an error.
    async fn observe(&self, request: &ObserveRequest<'_>) -> Result<Vec<Observation>, RunError>;

    /// Makes the calls on each text: which of them behave otherwise than on the file as it is.
    /// `None` where calls are made on files only.
    async fn probe(&self, _request: &ProbeRequest<'_>) -> Result<Option<ProbeResult>, RunError> {
        Ok(None)
    }
}
