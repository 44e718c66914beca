//! What the proxy has to know of the protocol that a client speaks with its provider.

use serde_json::Value;

use crate::domain::budget::Usage;

/// How questions and answers of a protocol are read and changed.
pub trait Dialect: Send + Sync {
    /// The model that a question at a path is for; empty where it names none.
    fn model<'a>(&self, path: &'a str, question: &'a Value) -> &'a str;

    /// The longest answer that a question permits, in tokens.
    fn cap(&self, question: &Value) -> Option<u32>;

    /// What a question wants besides an answer to its own text: that the provider fetches something,
    /// runs tools, goes on with what it has stored, or answers later. Such a question could carry the
    /// checkout to other hosts, and nobody knows what it costs.
    fn beyond_its_text(&self, question: &Value) -> Option<String>;

    /// The number of pictures in a question.
    fn pictures(&self, question: &Value) -> usize;

    /// Lets a question ask for one answer at the usual speed, as only that is reserved.
    fn set_one_answer(&self, question: &mut Value);

    /// The part of a prompt that is charged once more, should the provider write all of it into its
    /// cache: one over this number, or nothing.
    fn cache_share(&self, question: &Value) -> Option<u64>;

    /// Limits the answer to a question to so many tokens.
    fn set_cap(&self, question: &mut Value, cap: u32);

    /// Makes a question ask for the usage of its answer where needed; says whether it changed.
    fn ask_for_usage(&self, question: &mut Value) -> bool;

    /// The tokens that an answer, or one event of a streamed one, reports.
    fn usage(&self, answer: &Value) -> Usage;

    /// The bytes that the model wrote in an answer, or in one event of a streamed one.
    fn written(&self, answer: &Value) -> usize;

    /// Why the model declined to answer, as an answer or one event of a streamed one says it.
    fn refusal(&self, answer: &Value) -> Option<String>;

    /// An error of ours as one of the provider: the budget does not pay for a question.
    fn over_budget(&self, message: &str) -> Value;
}

/// The protocol of a request, by its path.
pub type DialectAt = fn(&str) -> &'static dyn Dialect;
