//! Angles and depth of exploration for a request (specification.md 3.1, phase 2, mode B).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Complexity of a request.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Complexity {
    Low,
    /// The request is about several things, or extends something.
    Medium,
    /// The request is about the architecture of the project.
    High,
}

/// An angle from which to look at a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Angle {
    Architecture,
    Dependencies,
    Modularity,
    IntegrationPoints,
    Security,
    AuthPatterns,
    Dataflow,
    Validation,
    Performance,
    Bottlenecks,
    Caching,
    DataAccess,
    ErrorHandling,
    StateManagement,
    EdgeCases,
    Patterns,
    Testing,
}

impl Angle {
    /// Parts of words that indicate this angle in the names and texts of a source file.
    #[must_use]
    pub fn signs(self) -> &'static [&'static str] {
        match self {
            Self::Architecture => &["main", "app", "core", "server", "router", "config"],
            Self::Dependencies => &["import", "require", "client", "adapter"],
            Self::Modularity => &["module", "plugin", "registry", "factory", "interface"],
            Self::IntegrationPoints => &["api", "client", "route", "handler", "http", "event"],
            Self::Security => &["password", "secret", "token", "crypt", "sanitize", "escape"],
            Self::AuthPatterns => &["auth", "login", "session", "permission", "role", "token"],
            Self::Dataflow => &["parse", "transform", "serialize", "convert", "load", "map"],
            Self::Validation => &["valid", "check", "assert", "schema", "parse", "raise"],
            Self::Performance => &["cache", "batch", "pool", "async", "parallel"],
            Self::Bottlenecks => &["for", "while", "sleep", "lock", "sort"],
            Self::Caching => &["cache", "memo", "ttl", "evict"],
            Self::DataAccess => &["query", "select", "insert", "database", "repository", "sql"],
            Self::ErrorHandling => {
                &["error", "except", "raise", "throw", "catch", "result", "panic"]
            }
            Self::StateManagement => &["state", "store", "reduce", "self.", "this.", "mut"],
            Self::EdgeCases => &["none", "null", "empty", "zero", "limit", "min", "max"],
            Self::Patterns => &["class", "interface", "trait", "decorator", "def", "function"],
            Self::Testing => &["test", "fixture", "mock", "assert", "expect"],
        }
    }
}

/// Complexity of a request, judged by the words of its description.
pub fn complexity(description: &str) -> Complexity {
    let has = |words: &[&str]| contains(description, words);
    if has(&["architect", "refactor", "restructure", "modular", "cross-module"]) {
        Complexity::High
    } else if has(&["multiple", "several", "integrate", "migrate", "extend"]) {
        Complexity::Medium
    } else {
        Complexity::Low
    }
}

/// The angles from which a request is explored; more of them for a complex request.
///
/// Source: specification.md 3.1 mode B 2; the first preset whose word occurs wins.
pub fn angles(description: &str) -> Vec<Angle> {
    let has = |words: &[&str]| contains(description, words);
    let preset = if has(&["refactor", "architect", "restructure"]) {
        [Angle::Architecture, Angle::Dependencies, Angle::Modularity, Angle::IntegrationPoints]
    } else if has(&["security", "auth", "permission"]) {
        [Angle::Security, Angle::AuthPatterns, Angle::Dataflow, Angle::Validation]
    } else if has(&["performance", "slow", "optimi"]) {
        [Angle::Performance, Angle::Bottlenecks, Angle::Caching, Angle::DataAccess]
    } else if has(&["fix", "bug", "error", "issue"]) {
        [Angle::ErrorHandling, Angle::Dataflow, Angle::StateManagement, Angle::EdgeCases]
    } else {
        [Angle::Patterns, Angle::IntegrationPoints, Angle::Testing, Angle::Dependencies]
    };
    let number = match complexity(description) {
        Complexity::High => 4,
        Complexity::Medium => 3,
        Complexity::Low => 1,
    };
    preset.into_iter().take(number).collect()
}

/// Whether a word of the text begins with one of these.
fn contains(text: &str, words: &[&str]) -> bool {
    let text = text.to_lowercase();
    let parts = text.split(|c: char| !c.is_alphanumeric() && c != '-');
    parts.into_iter().any(|part| words.iter().any(|word| part.starts_with(word)))
}

/// Relevance of a file to a request: 40 %, 30 %, 20 % and 10 % of four scores from 0 to 1.
///
/// Source: specification.md 3.1 mode B 5.
pub fn relevance(direct: f64, density: f64, position: f64, link: f64) -> f64 {
    0.4 * direct + 0.3 * density + 0.2 * position + 0.1 * link
}

/// Name of the tier to which a relevance belongs.
pub fn tier(relevance: f64) -> &'static str {
    if relevance >= 0.85 {
        "critical"
    } else if relevance >= 0.70 {
        "high"
    } else if relevance >= 0.50 {
        "medium"
    } else {
        "low"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles_follow_the_words() {
        let table: [(&str, Complexity, &[Angle]); 6] = [
            ("price parsing", Complexity::Low, &[Angle::Patterns]),
            ("fix the discount bug", Complexity::Low, &[Angle::ErrorHandling]),
            (
                "several auth flows",
                Complexity::Medium,
                &[Angle::Security, Angle::AuthPatterns, Angle::Dataflow],
            ),
            (
                "Refactor the slow core",
                Complexity::High,
                &[
                    Angle::Architecture,
                    Angle::Dependencies,
                    Angle::Modularity,
                    Angle::IntegrationPoints,
                ],
            ),
            ("optimise it", Complexity::Low, &[Angle::Performance]),
            ("prefix handling", Complexity::Low, &[Angle::Patterns]),
        ];
        for (text, expected, list) in table {
            assert_eq!(complexity(text), expected, "{text}");
            assert_eq!(angles(text), list, "{text}");
        }
    }

    #[test]
    fn edges_of_tiers() {
        let tiers =
            [(0.85, "critical"), (0.84, "high"), (0.7, "high"), (0.5, "medium"), (0.49, "low")];
        for (value, expected) in tiers {
            assert_eq!(tier(value), expected, "{value}");
        }
        assert!((relevance(1.0, 1.0, 1.0, 1.0) - 1.0).abs() < 1e-9);
    }
}
