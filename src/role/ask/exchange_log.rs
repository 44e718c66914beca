//! Stores each question and answer on disk before it is used, so that a run can reuse the answers
//! and report the unanswered questions of a killed one (specification.md 2.8, 7.11).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::chain::{FallbackTrigger, ProviderCall, spent_by};
use crate::domain::id::sha256_hex;
use crate::effect::{Answer, Finish, ModelError, Question, Store, StoreError, read_or_forget};

/// The file in the session folder with the pending question.
pub const PENDING_QUESTION_FILE: &str = ".process/question-under-way.json";

/// `question-under-way.json`: the last question that was asked. It is pending until there is a
/// receipt next to its record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PendingQuestion {
    /// The task, phase or iteration whose budget pays for it.
    pub work: String,
    /// The entry for the usage log, without an answer. The requests and tokens are those of its
    /// tries so far, including the one that is under way.
    pub call: ProviderCall,
    /// The digest of its text, which distinguishes it from others with the same record name.
    pub digest: String,
    pub asked_at: String,
    /// Number of requests that the session had counted when the step of this question began. The
    /// session counts a step at its end, so a higher number means that this step is counted.
    #[serde(default)]
    pub counted: u64,
    /// The calls of the same step before this one.
    pub before: Vec<ProviderCall>,
}

impl PendingQuestion {
    /// Number of requests of the session before this question.
    pub fn earlier(&self) -> u64 {
        self.counted.saturating_add(spent_by(&self.before).calls)
    }
}

/// A file next to the record of a question, written when the question was answered or failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AnswerReceipt {
    /// Distinguishes the question from another one of the same name.
    pub digest: String,
    /// Number of requests of the session before this question.
    pub earlier: u64,
    /// The entry for the usage log, with what the call cost and how it failed.
    pub call: ProviderCall,
    /// The text of the answer with secrets removed; absent if there was none.
    pub answer: Option<String>,
    /// Whether the text is the complete answer, without edits that exist only in a checkout.
    pub whole: bool,
}

/// Calls of a unit of work that no state of the session counts, because a run was killed.
#[derive(Clone, Debug, PartialEq)]
pub struct UncountedCalls {
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

/// The answer to the question with this record and digest that an earlier run stored, with its call.
pub async fn find_answer(
    raw: &str,
    digest: &str,
    store: &dyn Store,
) -> Result<Option<(Answer, ProviderCall)>, StoreError> {
    let receipt = read_or_forget::<AnswerReceipt>(store, &receipt_path(raw)).await?;
    let receipt = receipt.filter(|receipt| receipt.digest == digest && receipt.whole);
    let Some((text, call)) = receipt.and_then(|receipt| Some((receipt.answer?, receipt.call)))
    else {
        return Ok(None);
    };
    let answer = Answer {
        raw: text.clone(),
        text,
        finish: Finish::Done,
        usage: call.usage,
        model: call.model.clone(),
    };
    Ok(Some((answer, call)))
}

/// Records that a question is about to be asked.
pub async fn note_question(pending: &PendingQuestion, store: &dyn Store) -> Result<(), StoreError> {
    store
        .write_json(PENDING_QUESTION_FILE, &serde_json::to_value(pending).unwrap_or_default())
        .await
}

/// Writes the receipt of a question.
pub async fn note_end(receipt: &AnswerReceipt, store: &dyn Store) -> Result<(), StoreError> {
    let value = serde_json::to_value(receipt).unwrap_or_default();
    store.write_json(&receipt_path(&receipt.call.raw), &value).await
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

/// Finds the calls of the last step of an earlier run, unless the session, which has counted this
/// number of requests, has counted that step.
pub async fn find_uncounted(
    counted: u64,
    store: &dyn Store,
) -> Result<Option<UncountedCalls>, StoreError> {
    let pending = read_or_forget::<PendingQuestion>(store, PENDING_QUESTION_FILE).await?;
    let Some(pending) = pending.filter(|pending| pending.counted >= counted) else {
        return Ok(None);
    };
    let receipt = read_or_forget::<AnswerReceipt>(store, &receipt_path(&pending.call.raw)).await?;
    let receipt = receipt
        .filter(|receipt| receipt.digest == pending.digest && receipt.earlier == pending.earlier());
    let interrupted =
        |call, reason| ProviderCall { trigger: Some(FallbackTrigger::Interrupted), reason, ..call };
    let last = match receipt {
        Some(AnswerReceipt { call, answer: Some(_), whole: false, .. }) => {
            let reason =
                "it was answered in an interrupted run, and the edits of the agent were lost";
            interrupted(call, reason.to_owned())
        }
        Some(receipt) => receipt.call,
        None => {
            let reason = format!(
                "the run ended before the question asked at {} was answered; it may have been charged",
                pending.asked_at
            );
            interrupted(pending.call, reason)
        }
    };
    let calls = pending.before.into_iter().chain([last]).collect();
    Ok(Some(UncountedCalls { work: pending.work, calls }))
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
            left: crate::domain::budget::SpendingLimits::default(),
            checkout: None,
            meter: crate::effect::UsageMeter::default(),
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
}
