//! Stores each question and answer on disk before it is used, so that a run can reuse the answers
//! and report the unanswered questions of a killed one (specification.md 7.11, 13.7).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::budget::Usage;
use crate::domain::chain::{FallbackTrigger, ProviderCall, one_request};
use crate::domain::id::sha256_hex;
use crate::domain::provider::ClientMode;
use crate::effect::{
    Answer, Finish, Model, ModelError, Question, Store, StoreError, read_or_forget,
};

/// The file in the session folder with the pending question.
pub const PENDING_QUESTION_FILE: &str = ".process/question-under-way.json";

/// `question-under-way.json`: the last question that was asked. It is pending until there is a
/// receipt next to its record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PendingQuestion {
    /// The task, phase or iteration whose budget pays for it.
    pub work: String,
    /// The entry for the usage log, without an answer.
    pub call: ProviderCall,
    /// The digest of its text, which distinguishes it from others with the same record name.
    pub digest: String,
    pub asked_at: String,
    /// Earlier questions of the same step that were not answered either.
    pub before: Vec<ProviderCall>,
}

/// The calls before a question that no other file counts, if they are not in the state of the session
/// yet: unanswered ones, and earlier ones with the same record.
pub fn uncounted(calls: &[ProviderCall], raw: &str) -> Vec<ProviderCall> {
    let is_kept = |call: &&ProviderCall| {
        call.trigger == Some(FallbackTrigger::Interrupted) || call.raw == raw
    };
    calls.iter().filter(is_kept).cloned().collect()
}

/// A file next to the record of a question, written when the question was answered or failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AnswerReceipt {
    /// Distinguishes the question from another one of the same name.
    pub digest: String,
    pub asked_at: String,
    /// The answer with secrets removed; absent if there was none.
    pub answer: Option<StoredAnswer>,
    /// Whether the text is the complete answer, without edits that exist only in a checkout.
    pub whole: bool,
    /// The call, if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<ProviderCall>,
    /// Calls before this one, to be counted if the run ended before the session did that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<ProviderCall>,
}

/// An answer as stored in a receipt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StoredAnswer {
    pub text: String,
    /// The tokens of all requests that it took.
    pub usage: Usage,
    /// Number of requests that it took.
    #[serde(default = "one_request")]
    pub requests: u32,
    /// Cost in millionths of a dollar; absent without a price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub micro_usd: Option<u64>,
    pub model: String,
}

/// What the receipt of an earlier run says about a question.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EarlierRun {
    pub answer: EarlierAnswer,
    /// Calls that the session has to count, unless it did: failed ones and those before them.
    pub calls: Vec<ProviderCall>,
}

/// The stored result of a question asked by an earlier run.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum EarlierAnswer {
    /// The question was not asked, or it was not answered.
    #[default]
    None,
    Stored {
        answer: Answer,
        /// Number of requests that it took.
        requests: u32,
        /// Its cost; `None` without a price.
        micro_usd: Option<u64>,
    },
    /// The question was answered, but the checkout with the edits no longer exists.
    Lost(StoredAnswer),
}

/// Unanswered questions of one unit of work.
#[derive(Clone, Debug, PartialEq)]
pub struct UnansweredCalls {
    /// The task, phase or iteration.
    pub work: String,
    /// The calls in chronological order.
    pub calls: Vec<ProviderCall>,
}

/// Hashes a question, to distinguish those with the same record name. The fence is excluded, as it
/// differs in each run. `before` is the number of questions asked before its work started.
pub fn digest(question: &Question, fence: &str, before: u64) -> String {
    let plain = |text: &str| text.replace(fence, "fence");
    let text = format!("{before}\n{}\n{}", plain(&question.system), plain(&question.prompt));
    sha256_hex(text.as_bytes())
}

/// The path of the receipt for a record: `x.1.1.answer.json` for `x.1.1.txt`.
fn receipt_path(raw: &str) -> String {
    format!("{}.answer.json", raw.strip_suffix(".txt").unwrap_or(raw))
}

/// Looks up the result of the question with this record and digest from an earlier run.
pub async fn find_answer(
    raw: &str,
    digest: &str,
    store: &dyn Store,
) -> Result<EarlierRun, StoreError> {
    let receipt = read_or_forget::<AnswerReceipt>(store, &receipt_path(raw)).await?;
    let Some(receipt) = receipt.filter(|receipt| receipt.digest == digest) else {
        return Ok(EarlierRun::default());
    };
    let answer = match receipt.answer {
        Some(stored) if !receipt.whole => EarlierAnswer::Lost(stored),
        Some(stored) => EarlierAnswer::Stored {
            requests: stored.requests,
            micro_usd: stored.micro_usd,
            answer: Answer {
                raw: stored.text.clone(),
                text: stored.text,
                finish: Finish::Done,
                usage: stored.usage,
                model: stored.model,
            },
        },
        None => EarlierAnswer::None,
    };
    let calls = receipt.before.into_iter().chain(receipt.failed).collect();
    Ok(EarlierRun { answer, calls })
}

/// Records that a question is about to be asked.
pub async fn note_question(pending: &PendingQuestion, store: &dyn Store) -> Result<(), StoreError> {
    store
        .write_json(PENDING_QUESTION_FILE, &serde_json::to_value(pending).unwrap_or_default())
        .await
}

/// Whether the text is the complete answer: always for models that answer in text, and for agents
/// once their edits were added to the text.
pub fn is_whole(model: &dyn Model, is_collected: bool) -> bool {
    model.mode() == ClientMode::Answer || is_collected
}

/// The end of a question.
pub enum Ended {
    /// The answer, which holds no secrets.
    Answered(StoredAnswer),
    Failed(ProviderCall),
}

/// Writes the receipt of a question. `before` are the calls that it counts besides its own.
pub async fn note_end(
    pending: &PendingQuestion,
    ended: Ended,
    whole: bool,
    before: Vec<ProviderCall>,
    store: &dyn Store,
) -> Result<(), StoreError> {
    let (digest, asked_at) = (pending.digest.clone(), pending.asked_at.clone());
    let (answer, failed) = match ended {
        Ended::Answered(answer) => (Some(answer), None),
        Ended::Failed(call) => (None, Some(call)),
    };
    let receipt = AnswerReceipt { digest, asked_at, answer, whole, failed, before };
    let value = serde_json::to_value(&receipt).unwrap_or_default();
    store.write_json(&receipt_path(&pending.call.raw), &value).await
}

/// The complete exchange in readable form. It may contain secrets.
pub fn transcript(question: &Question, result: &Result<Answer, ModelError>) -> String {
    let answer = match result {
        Ok(answer) => format!("{}\n\n--- as received ---\n{}", answer.text, answer.raw),
        Err(error) => format!("{error}\n{}\n\n--- as received ---\n{}\n", error.message, error.raw),
    };
    format!(
        "--- {} ---\n--- system ---\n{}\n--- prompt ---\n{}\n--- answer ---\n{answer}\n",
        question.id, question.system, question.prompt
    )
}

/// Finds the question that an earlier run left unanswered, preceded by the unanswered ones of the
/// same step, ready to be counted.
pub async fn find_unanswered(store: &dyn Store) -> Result<Option<UnansweredCalls>, StoreError> {
    let Some(pending) = read_or_forget::<PendingQuestion>(store, PENDING_QUESTION_FILE).await?
    else {
        return Ok(None);
    };
    let receipt = read_or_forget::<AnswerReceipt>(store, &receipt_path(&pending.call.raw)).await?;
    let is_closed = receipt.is_some_and(|receipt| {
        receipt.digest == pending.digest && receipt.asked_at == pending.asked_at
    });
    if is_closed {
        return Ok(None);
    }
    let last = ProviderCall {
        trigger: Some(FallbackTrigger::Interrupted),
        reason: format!(
            "the run ended before the question asked at {} was answered; it may have been charged",
            pending.asked_at
        ),
        ..pending.call
    };
    let calls = pending.before.into_iter().chain([last]).collect();
    Ok(Some(UnansweredCalls { work: pending.work, calls }))
}

/// The calls without an answer because a run was interrupted.
pub fn interrupted(calls: &[ProviderCall]) -> Vec<ProviderCall> {
    let is_interrupted = |call: &&ProviderCall| call.trigger == Some(FallbackTrigger::Interrupted);
    calls.iter().filter(is_interrupted).cloned().collect()
}

/// The call for an answer that was lost, with its cost, ready to be counted.
pub fn lost_call(call: &ProviderCall, stored: &StoredAnswer) -> ProviderCall {
    ProviderCall {
        requests: stored.requests,
        usage: stored.usage,
        micro_usd: stored.micro_usd,
        trigger: Some(FallbackTrigger::Interrupted),
        reason: "it was answered in an interrupted run, and the edits of the agent were lost"
            .into(),
        ..call.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn question(prompt: &str) -> Question {
        Question {
            id: "WFS-test-x/analysis-1/surveyor/1/1".into(),
            system: "between BEGIN f00 and END f00".into(),
            prompt: prompt.into(),
            form: None,
            temperature: None,
            max_output_tokens: 100,
            limit: Duration::from_secs(1),
            checkout: None,
        }
    }

    #[test]
    fn a_question_is_the_same_in_the_next_run_and_another_one_is_not() {
        let first = digest(&question("BEGIN f00 x"), "f00", 0);
        let mut next = question("BEGIN ba5 x");
        next.system = "between BEGIN ba5 and END ba5".into();
        let table = [
            ("another word around foreign text", digest(&next, "ba5", 0), true),
            ("other sources", digest(&question("BEGIN f00 y"), "f00", 0), false),
            ("after a roll-back", digest(&question("BEGIN f00 x"), "f00", 3), false),
        ];
        for (why, other, same) in table {
            assert_eq!(first == other, same, "{why}");
        }
        assert_eq!(
            receipt_path(".process/a-cli-output.judge.1.2.txt"),
            ".process/a-cli-output.judge.1.2.answer.json"
        );
    }

    proptest::proptest! {
        #[test]
        fn a_receipt_lies_beside_its_record(name in "[a-z0-9.-]{1,20}") {
            let record = format!(".process/{name}.txt");
            proptest::prop_assert_eq!(receipt_path(&record), format!(".process/{name}.answer.json"));
        }
    }

    #[test]
    fn only_interrupted_calls_are_carried_over() {
        let call = |trigger| ProviderCall { trigger, ..sample_call() };
        let calls = [
            call(None),
            call(Some(FallbackTrigger::Interrupted)),
            call(Some(FallbackTrigger::TimedOut)),
        ];
        assert_eq!(interrupted(&calls), [call(Some(FallbackTrigger::Interrupted))]);
        assert_eq!(uncounted(&calls, ".process/x.txt"), calls);
        assert_eq!(uncounted(&calls, ".process/y.txt"), [call(Some(FallbackTrigger::Interrupted))]);
        let stored = StoredAnswer {
            text: "x".into(),
            requests: 2,
            usage: Usage::new(3, 4),
            micro_usd: Some(7),
            model: "m".into(),
        };
        let lost = lost_call(&call(None), &stored);
        assert_eq!((lost.requests, lost.usage.tokens(), lost.micro_usd), (2, 7, Some(7)));
        assert_eq!(lost.trigger, Some(FallbackTrigger::Interrupted));
    }

    fn sample_call() -> ProviderCall {
        ProviderCall {
            role: "judge".into(),
            provider: "a".into(),
            model: "m".into(),
            slot: 1,
            turn: 1,
            used: false,
            trigger: None,
            reason: String::new(),
            confidence: None,
            requests: 1,
            usage: Usage::default(),
            micro_usd: None,
            duration_ms: 0,
            raw: ".process/x.txt".into(),
        }
    }
}
