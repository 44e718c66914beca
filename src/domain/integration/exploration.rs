//! What exploring a module finds: its structure, what it depends on, and where it meets other
//! modules (specification.md 8.13).

use serde::{Deserialize, Serialize};

use crate::domain::id::{RepoPath, TestId};

/// How much depends on something (specification.md 8.13).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RiskLevel {
    High,
    Medium,
    Low,
}

display_stored_name!(RiskLevel);

/// The files and functions of the module.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModuleStructure {
    /// Files that other code or a command enters by.
    pub entry_points: Vec<String>,
    /// Public functions, as `file: function`.
    pub public_apis: Vec<String>,
    pub internal_modules: Vec<String>,
}

/// What the module uses, and what uses it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Dependencies {
    /// Files that use the module.
    pub upstream: Vec<String>,
    /// Files that the module uses.
    pub downstream: Vec<String>,
    /// What lies outside of the process, each with the code that shows it.
    pub external_services: Vec<String>,
}

/// How two modules meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntegrationKind {
    /// One calls the other.
    #[default]
    Api,
    /// One sends what the other receives.
    Event,
    /// Both use the same file, table or variable.
    SharedState,
}

display_stored_name!(IntegrationKind);

/// A call across a boundary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoundaryCall {
    /// The calling function; empty where the call runs when the file is loaded.
    pub caller: String,
    /// The called declaration.
    pub callee: String,
    /// The line of the call, from 1.
    pub line: u32,
    /// The arguments as written.
    pub arguments: Vec<String>,
}

/// A boundary: a file that calls what another file declares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntegrationPoint {
    pub from: RepoPath,
    pub to: RepoPath,
    #[serde(rename = "type", default)]
    pub kind: IntegrationKind,
    /// What is called with what, what it returns, and which errors it raises.
    #[serde(default)]
    pub contract: String,
    /// The calls, in the order of their lines.
    #[serde(default)]
    pub calls: Vec<BoundaryCall>,
    /// Whether the suite runs a call; `None` where coverage could not be measured.
    #[serde(default)]
    pub crossed: Option<bool>,
    /// Existing tests that run both sides, as far as known.
    #[serde(default)]
    pub crossed_by: Vec<TestId>,
}

impl IntegrationPoint {
    /// Whether an existing test crosses it, as far as known.
    #[must_use]
    pub fn is_crossed(&self) -> bool {
        self.crossed == Some(true) || !self.crossed_by.is_empty()
    }

    /// The boundary as people read it: `shop/order.py → shop/tax.py`.
    #[must_use]
    pub fn boundary_name(&self) -> String {
        format!("{} → {}", self.from, self.to)
    }
}

/// A chain of calls over more than two files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DataFlow {
    pub name: String,
    /// The files, from the first caller on.
    pub path: Vec<String>,
    /// The functions along the path.
    pub transforms: Vec<String>,
}

/// The integration tests that exist, and how they are written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExistingTests {
    /// Test files that import code on both sides of a boundary.
    pub test_files: Vec<String>,
    /// Conventions of the project's tests.
    pub patterns: Vec<String>,
    /// Helpers, fixtures and factories.
    pub utilities: Vec<String>,
    /// How tests replace what they do not run.
    pub mocking_conventions: Vec<String>,
}

/// What runs the tests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TestTools {
    pub runner: String,
    pub assertion_lib: String,
    pub mock_lib: String,
}

/// Something that is likely to break.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RiskArea {
    pub area: String,
    pub reason: String,
    pub priority: RiskLevel,
}

/// How the exploration was made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExplorationMetadata {
    pub files_analyzed: u32,
    /// RFC 3339, in UTC.
    pub timestamp: String,
}

/// What exploring a module found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Exploration {
    pub module_structure: ModuleStructure,
    pub dependencies: Dependencies,
    /// Boundaries, most risky first.
    pub integration_points: Vec<IntegrationPoint>,
    pub data_flows: Vec<DataFlow>,
    pub existing_tests: ExistingTests,
    pub test_framework: TestTools,
    /// Most risky first.
    pub risk_areas: Vec<RiskArea>,
    #[serde(rename = "_metadata")]
    pub metadata: ExplorationMetadata,
}

impl Exploration {
    /// Whether it is known which boundaries existing tests cross.
    #[must_use]
    pub fn is_measured(&self) -> bool {
        self.integration_points.iter().all(|point| point.crossed.is_some())
    }

    /// The boundaries that an existing test crosses.
    #[must_use]
    pub fn crossed_before(&self) -> usize {
        self.integration_points.iter().filter(|point| point.is_crossed()).count()
    }

    /// The number of boundaries, and how many of them existing tests cross, as far as that is known.
    #[must_use]
    pub fn describe_boundaries(&self) -> String {
        let all = self.integration_points.len();
        let boundaries = if all == 1 { "1 boundary".into() } else { format!("{all} boundaries") };
        let measured = self.integration_points.iter().filter(|one| one.crossed.is_some()).count();
        let crossed = self.crossed_before();
        match measured {
            0 if all > 0 => format!("{boundaries}, not measured which tests crossed before"),
            _ if measured == all => format!("{boundaries}, {crossed} crossed by a test before"),
            _ => format!("{boundaries}, {crossed} of {measured} measured crossed by a test before"),
        }
    }
}
