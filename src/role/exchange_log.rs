//! What was asked and what was answered, on disk before anything is made of it: an answer that had
//! arrived when a run was killed is used, and a question without one is counted and told
//! (product.md 7.11, 13.7).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::domain::budget::Usage;
use crate::domain::chain::{FallbackTrigger, ProviderCall};
use crate::domain::provider::ClientMode;
use crate::effect::{Answer, Finish, Model, Question, Store, StoreError};

/// Where the question that is under way lies inside the session folder.
pub const UNDER_WAY: &str = ".process/question-under-way.json";

/// `question-under-way.json`: the last question that was asked. It is open as long as no receipt
/// lies beside the record that it names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnderWay {
    /// What its budget is counted for: a task, a phase, or an iteration.
    pub work: String,
    /// The question as the books have it, without an answer.
    pub call: ProviderCall,
    /// Tells it from another question of that name.
    pub digest: String,
    /// When it was asked.
    pub asked_at: String,
    /// Questions of the same step that had no answer either.
    pub before: Vec<ProviderCall>,
}

/// What lies beside the record of a question once it was answered, or had failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Receipt {
    /// Tells the question from another one of that name.
    pub digest: String,
    /// When it was asked.
    pub asked_at: String,
    /// The answer without keys; absent when there was none.
    pub answer: Option<Kept>,
    /// Whether the text is all of the answer. A client that edits a checkout leaves more.
    pub whole: bool,
}

/// An answer as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Kept {
    /// The text.
    pub text: String,
    /// Whether it ended at the longest answer allowed.
    pub cut: bool,
    /// What it took.
    pub usage: Usage,
    /// The model, as it calls itself.
    pub model: String,
}

/// What an earlier run left of a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Known {
    /// It was not asked, or nothing came of it.
    Nothing,
    /// It was answered.
    Answered(Answer),
    /// It was answered, and what the answer was is gone with the checkout it was given in.
    Gone(Kept),
}

/// Tells a question from another one of the same name. The word around foreign text is new in each
/// run, and no part of it. `before` is how many questions had been asked when its work began.
#[must_use]
pub fn digest(question: &Question, fence: &str, before: u64) -> String {
    let plain = |text: &str| text.replace(fence, "fence");
    let text = format!("{before}\n{}\n{}", plain(&question.system), plain(&question.prompt));
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The receipt of a record: `x.1.1.txt` has `x.1.1.answer.json`.
fn place(raw: &str) -> String {
    format!("{}.answer.json", raw.strip_suffix(".txt").unwrap_or(raw))
}

async fn read<T: serde::de::DeserializeOwned>(
    file: &str,
    store: &dyn Store,
) -> Result<Option<T>, StoreError> {
    let value = match store.read_json(file).await {
        Ok(value) => value,
        Err(StoreError::Corrupt { .. }) => None,
        Err(error) => return Err(error),
    };
    Ok(value.and_then(|value| serde_json::from_value(value).ok()))
}

/// What an earlier run left of the question with this record and digest.
///
/// # Errors
///
/// When session files cannot be read.
pub async fn known(raw: &str, digest: &str, store: &dyn Store) -> Result<Known, StoreError> {
    let receipt = read::<Receipt>(&place(raw), store).await?;
    let kept = receipt.filter(|receipt| receipt.digest == digest);
    Ok(match kept {
        Some(Receipt { answer: Some(kept), whole: false, .. }) => Known::Gone(kept),
        Some(Receipt { answer: Some(kept), .. }) => Known::Answered(Answer {
            raw: kept.text.clone(),
            text: kept.text,
            finish: if kept.cut { Finish::Cut } else { Finish::Done },
            usage: kept.usage,
            model: kept.model,
        }),
        Some(Receipt { answer: None, .. }) | None => Known::Nothing,
    })
}

/// Notes that a question is asked now.
///
/// # Errors
///
/// When session files cannot be written.
pub async fn asking(way: &UnderWay, store: &dyn Store) -> Result<(), StoreError> {
    store.write_json(UNDER_WAY, &serde_json::to_value(way).unwrap_or_default()).await
}

/// Notes what came of a question. `text` is the answer without keys; `None` when there was none.
/// An agent's text is its whole answer where its changes were put into it, see `harvested`.
///
/// # Errors
///
/// When session files cannot be written.
pub async fn arrived(
    way: &UnderWay,
    answer: Option<(&Answer, String)>,
    (model, harvested): (&dyn Model, bool),
    store: &dyn Store,
) -> Result<(), StoreError> {
    let kept = answer.map(|(answer, text)| Kept {
        text,
        cut: answer.finish == Finish::Cut,
        usage: answer.usage,
        model: answer.model.clone(),
    });
    let receipt = Receipt {
        digest: way.digest.clone(),
        asked_at: way.asked_at.clone(),
        answer: kept,
        whole: model.manner() == ClientMode::Answer || harvested,
    };
    let value = serde_json::to_value(&receipt).unwrap_or_default();
    store.write_json(&place(&way.call.raw), &value).await
}

/// The question that an earlier run asked and had no answer to when it ended, with those of the
/// same step before it, as they are to be counted.
///
/// # Errors
///
/// When session files cannot be read.
pub async fn left_open(
    store: &dyn Store,
) -> Result<Option<(String, Vec<ProviderCall>)>, StoreError> {
    let Some(way) = read::<UnderWay>(UNDER_WAY, store).await? else { return Ok(None) };
    let receipt = read::<Receipt>(&place(&way.call.raw), store).await?;
    let closed = receipt
        .is_some_and(|receipt| receipt.digest == way.digest && receipt.asked_at == way.asked_at);
    if closed {
        return Ok(None);
    }
    let last = ProviderCall {
        trigger: Some(FallbackTrigger::Interrupted),
        said: format!(
            "the run ended while this was asked at {}; nobody knows whether it was charged",
            way.asked_at
        ),
        ..way.call
    };
    Ok(Some((way.work, way.before.into_iter().chain([last]).collect())))
}

/// Of calls those that had no answer when a run ended.
#[must_use]
pub fn unanswered(calls: &[ProviderCall]) -> Vec<ProviderCall> {
    let interrupted = |call: &&ProviderCall| call.trigger == Some(FallbackTrigger::Interrupted);
    calls.iter().filter(interrupted).cloned().collect()
}

/// A call whose answer is gone, as it is to be counted.
#[must_use]
pub fn lost(call: &ProviderCall, kept: &Kept, price: Option<u64>) -> ProviderCall {
    ProviderCall {
        usage: kept.usage,
        micro_usd: price,
        trigger: Some(FallbackTrigger::Interrupted),
        said: "it was answered in a run that was interrupted, and what it changed is gone".into(),
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
            place(".process/a-cli-output.judge.1.2.txt"),
            ".process/a-cli-output.judge.1.2.answer.json"
        );
    }
}
