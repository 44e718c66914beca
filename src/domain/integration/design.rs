//! The design of integration tests: scenarios per boundary, and what is real in them
//! (specification.md 8.13).

use serde::{Deserialize, Serialize};

/// Importance of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScenarioPriority {
    Critical,
    High,
    Medium,
}

display_stored_name!(ScenarioPriority);

/// The kind of exchange that a scenario tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScenarioKind {
    #[default]
    ApiContract,
    EventFlow,
    SharedState,
    DataPipeline,
}

/// One planned test.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlannedCase {
    /// The behaviour, as `should <behaviour> when <condition>`.
    pub name: String,
    /// What is given, in words or code.
    pub input: String,
    pub expected: String,
    /// What the assertion compares: `value` or `error`.
    pub assertion_type: String,
}

/// What a scenario replaces and what it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Mocking {
    pub mock_targets: Vec<String>,
    pub real_targets: Vec<String>,
    pub reason: String,
}

/// The tests of one boundary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scenario {
    /// `IS-001` and so on.
    pub id: String,
    pub name: String,
    /// The boundary, as `IntegrationPoint::boundary_name` writes it.
    pub boundary: String,
    #[serde(rename = "type", default)]
    pub kind: ScenarioKind,
    pub priority: ScenarioPriority,
    #[serde(default)]
    pub test_cases: Vec<PlannedCase>,
    #[serde(default)]
    pub mocking: Mocking,
    #[serde(default)]
    pub setup: String,
    #[serde(default)]
    pub teardown: String,
}

/// How much is replaced by fakes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MockingApproach {
    /// Only what leaves the process.
    #[default]
    Minimal,
    Moderate,
    Heavy,
}

display_stored_name!(MockingApproach);

/// What is replaced in all scenarios, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MockingStrategy {
    pub approach: MockingApproach,
    pub mock_boundaries: Vec<String>,
    pub real_boundaries: Vec<String>,
    pub rationale: String,
}

/// When the cycle may end (specification.md 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuccessCriteria {
    /// Pass rate in percent.
    pub pass_rate: u32,
    /// Line coverage of the module in percent.
    pub coverage_target: u32,
}

impl Default for SuccessCriteria {
    fn default() -> Self {
        Self { pass_rate: 95, coverage_target: 80 }
    }
}

/// The design of all scenarios.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TestDesign {
    pub integration_scenarios: Vec<Scenario>,
    pub mocking_strategy: MockingStrategy,
    /// Ids of the scenarios in the order in which they are developed.
    pub execution_order: Vec<String>,
    pub success_criteria: SuccessCriteria,
    /// What no scenario covers, with the reason.
    pub not_covered: Vec<String>,
}
