//! The options that a session keeps: a run that resumes it takes them from there, so that it has the
//! same suite, providers and limits without repeating them.

use std::path::PathBuf;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::adapter::Session;
use crate::adapter::host::redaction;
use crate::adapter::repo::RepositoryFacts;
use crate::domain::session::files::OPTIONS;
use crate::domain::shell;

use super::AppError;

/// The options that are kept, by their names; others belong to a run or the record.
const KEPT: &[&str] = &[
    "base",
    "test-command",
    "setup",
    "report",
    "test-timeout",
    "no-coverage",
    "target",
    "no-minimise",
    "config",
    "set",
    "providers",
    "budget-minutes",
    "budget-usd",
    "budget-tokens",
    "budget-calls",
];

/// The option whose settings are kept one by one.
const SET: &str = "set";

/// Field of the file for the folder of the suite, below the root of the repository.
const FOLDER: &str = "folder";

/// Field of the file for the names of options whose values contain a secret and are not stored.
const SECRET: &str = "secret";

/// The options of a session that a run goes on with.
pub(super) struct Continued<R> {
    pub request: R,
    /// What was taken from the session, for the user; `None` without any.
    pub notice: Option<String>,
}

/// Stores the options of a request that began or resumed a session.
pub(super) async fn keep<R: Serialize + Default>(
    request: &R,
    session: &Session<'_>,
) -> Result<(), AppError> {
    let mut kept = kept(request);
    kept.insert(FOLDER.to_owned(), session.facts.subdirectory.clone().into());
    Ok(session.keep_options(&Value::Object(kept)).await?)
}

/// The folder that a resumed session is about, if it is another than the request names.
pub(super) fn folder(stored: &Value, facts: &RepositoryFacts) -> Option<PathBuf> {
    let kept = stored[FOLDER].as_str().filter(|kept| *kept != facts.subdirectory)?;
    Some(facts.root.join(kept))
}

/// Completes a resuming request by its session's options; fails if a secret is needed.
pub(super) fn complete<R: Serialize + DeserializeOwned + Default>(
    request: &R,
    stored: &Value,
) -> Result<Continued<R>, AppError> {
    let (mut fields, open) = (fields_of(request), fields_of(&R::default()));
    let is_open = |name: &str| fields.get(name).is_some_and(|value| open.get(name) == Some(value));
    let secret = stored[SECRET].as_array().into_iter().flatten().filter_map(Value::as_str);
    if let Some(name) = secret.into_iter().find(|name| is_open(name)) {
        return Err(AppError::usage(
            format!("the session was begun with `--{name}`, whose value contains a secret"),
            format!("secrets are not stored; give `--{name}` again"),
        ));
    }
    let mut taken = Vec::new();
    for name in KEPT.iter().copied() {
        let Some(value) = stored.get(name).filter(|value| !value.is_null()) else { continue };
        let value = match fields.get(name) {
            Some(_) if is_open(name) => value.clone(),
            Some(Value::Array(own)) if name == SET => other_keys(value, own),
            Some(_) | None => continue,
        };
        taken.push((name, value));
    }
    for (name, value) in &taken {
        let own = fields.get_mut(*name).filter(|_| *name == SET).and_then(Value::as_array_mut);
        match own.zip(value.as_array()) {
            Some((own, kept)) => drop(own.splice(0..0, kept.iter().cloned())),
            None => drop(fields.insert((*name).to_owned(), value.clone())),
        }
    }
    let words = words_of(taken.iter().map(|(name, value)| (*name, value)));
    let notice = (!words.is_empty())
        .then(|| format!("the session keeps the options of its last run: {}", shell::line(&words)));
    // A file of another version, or one that somebody edited, may not fit.
    let request = serde_json::from_value(Value::Object(fields)).map_err(|_error| {
        AppError::usage(
            format!("{OPTIONS} of the session cannot be read"),
            "delete the file and give the options again",
        )
    })?;
    Ok(Continued { request, notice })
}

/// The settings of `--set` that are kept beside those of a request: the ones of other keys.
fn other_keys(kept: &Value, own: &[Value]) -> Value {
    let is_own = |one: &Value| own.iter().any(|other| other["key"] == one["key"]);
    kept.as_array().into_iter().flatten().filter(|one| !is_own(one)).cloned().collect()
}

/// The options of a request that another one for the same must repeat, as words of a command line.
pub(super) fn words<R: Serialize + Default>(request: &R, folder: &str) -> Vec<String> {
    let kept = kept(request);
    let mut words: Vec<String> =
        Some(folder.to_owned()).filter(|it| !it.is_empty()).into_iter().collect();
    words.extend(words_of(KEPT.iter().filter_map(|name| Some((*name, kept.get(*name)?)))));
    let secret = kept.get(SECRET).and_then(Value::as_array).into_iter().flatten();
    // The value is for the person who has the secret.
    words.extend(
        secret.filter_map(Value::as_str).flat_map(|name| [format!("--{name}"), "…".into()]),
    );
    words
}

fn words_of<'v>(options: impl Iterator<Item = (&'static str, &'v Value)>) -> Vec<String> {
    options.flat_map(|(name, value)| flags(name, value)).collect()
}

/// The options of a request to store: those that are not open.
fn kept<R: Serialize + Default>(request: &R) -> Map<String, Value> {
    let (fields, open) = (fields_of(request), fields_of(&R::default()));
    let mut kept = Map::new();
    let mut secret = Vec::new();
    for name in KEPT {
        let Some(value) = fields.get(*name).filter(|value| open.get(*name) != Some(value)) else {
            continue;
        };
        let value = match value {
            // The next run may start in another folder.
            Value::String(path) if *name == "config" => absolute(path),
            value => value.clone(),
        };
        let text = value.to_string();
        if *redaction::redact(&text) == *text {
            kept.insert((*name).to_owned(), value);
        } else {
            secret.push(Value::from(*name));
        }
    }
    kept.insert(SECRET.to_owned(), secret.into());
    kept
}

fn absolute(path: &str) -> Value {
    std::path::absolute(path).map_or_else(|_| path.into(), |path| path.display().to_string().into())
}

fn fields_of<R: Serialize>(request: &R) -> Map<String, Value> {
    let value = serde_json::to_value(request).unwrap_or_default();
    value.as_object().cloned().unwrap_or_default()
}

/// An option as words of a command line.
fn flags(name: &str, value: &Value) -> Vec<String> {
    let flag = format!("--{name}");
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Object(set) => {
            let part = |key: &str| set.get(key).and_then(Value::as_str).unwrap_or_default();
            format!("{}={}", part("key"), part("value"))
        }
        other => other.to_string(),
    };
    match value {
        Value::Bool(_) => vec![flag],
        Value::Array(list) if name == "providers" => {
            vec![flag, list.iter().map(text).collect::<Vec<_>>().join(",")]
        }
        Value::Array(list) => list.iter().flat_map(|one| [flag.clone(), text(one)]).collect(),
        other => vec![flag, text(other)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::{FixRequest, ModelOptions, RunOptions, TestRequest};
    use crate::config::Override;

    fn begun() -> FixRequest {
        FixRequest {
            repository: "here".into(),
            setup: vec!["npm ci".into(), "make".into()],
            report: Some("out/*.xml".into()),
            target: Some(97),
            no_minimise: true,
            run: RunOptions {
                base: Some("main".into()),
                test_command: Some("make 'all tests'".into()),
                test_timeout: Some("5m".into()),
                max_iterations: Some(3),
                config: Some("/c.yml".into()),
                set: vec![Override { key: "a.b".into(), value: "c".into(), by: "--set".into() }],
                bundle: Some("bundle".into()),
                ..RunOptions::default()
            },
            models: ModelOptions {
                providers: vec!["one".into(), "embedded".into()],
                budget_minutes: Some(0.5),
                budget_usd: Some(0.02),
                budget_tokens: Some(10),
                budget_calls: Some(4),
                record: Some("tape".into()),
                replay: None,
            },
            html: Some("page.html".into()),
            ..FixRequest::default()
        }
    }

    fn stored(request: &FixRequest) -> Value {
        Value::Object(kept(request))
    }

    #[test]
    fn a_resumed_run_has_the_options_that_it_leaves_open() {
        let Continued { request, notice } =
            complete(&FixRequest::default(), &stored(&begun())).unwrap();
        let own = FixRequest {
            repository: "here".into(),
            run: RunOptions {
                max_iterations: Some(3),
                bundle: Some("bundle".into()),
                ..request.run.clone()
            },
            html: Some("page.html".into()),
            models: ModelOptions { record: Some("tape".into()), ..request.models.clone() },
            ..request
        };
        assert_eq!(own, begun(), "all but what belongs to one run");
        assert_eq!(
            notice.unwrap(),
            "the session keeps the options of its last run: --base main --test-command 'make '\\''all tests'\\''' \
             --setup 'npm ci' --setup make --report 'out/*.xml' --test-timeout 5m --target 97 --no-minimise \
             --config /c.yml --set a.b=c --providers one,embedded --budget-minutes 0.5 --budget-usd 0.02 \
             --budget-tokens 10 --budget-calls 4"
        );
        let higher = ModelOptions { budget_usd: Some(2.0), ..ModelOptions::default() };
        let request = FixRequest { models: higher, ..FixRequest::default() };
        let Continued { request, notice } = complete(&request, &stored(&begun())).unwrap();
        assert_eq!((request.models.budget_usd, request.models.budget_calls), (Some(2.0), Some(4)));
        assert!(!notice.unwrap().contains("--budget-usd"));
        assert_eq!(kept(&request)["budget-usd"], 2.0, "and the next one has the higher limit");
    }

    #[test]
    fn settings_are_kept_key_by_key() {
        let set = |key: &str, value: &str| Override {
            key: key.into(),
            value: value.into(),
            by: "--set".into(),
        };
        let with_set = |set| FixRequest {
            run: RunOptions { set, ..RunOptions::default() },
            ..FixRequest::default()
        };
        let begun = with_set(vec![set("budget.usd", "1"), set("budget.calls", "2")]);
        let again = with_set(vec![set("budget.calls", "9"), set("a.b", "c")]);
        let Continued { request, notice } = complete(&again, &stored(&begun)).unwrap();
        let expected = [set("budget.usd", "1"), set("budget.calls", "9"), set("a.b", "c")];
        assert_eq!(request.run.set, expected);
        assert!(notice.unwrap().ends_with("of its last run: --set budget.usd=1"));
    }

    #[test]
    fn a_session_of_tests_and_the_fix_loop_share_their_options() {
        let Continued { request, .. } =
            complete(&TestRequest::default(), &stored(&begun())).unwrap();
        let expected = TestRequest {
            run: RunOptions { max_iterations: None, bundle: None, ..begun().run },
            models: ModelOptions { record: None, ..begun().models },
            ..TestRequest::default()
        };
        assert_eq!(request, expected);
    }

    #[test]
    fn a_session_without_options_changes_nothing() {
        let plain = FixRequest::default();
        for file in [Value::Null, stored(&plain)] {
            let Continued { request, notice } = complete(&begun(), &file).unwrap();
            assert_eq!((request, notice), (begun(), None));
        }
        let error = complete(&plain, &serde_json::json!({ "target": "x" })).err().unwrap();
        assert!(error.message.contains(OPTIONS), "{}", error.message);
    }

    #[test]
    fn an_option_with_a_secret_is_not_stored_and_must_be_given_again() {
        let secret = format!("gh{}", "p_0123456789abcdefghijABCDEFGHIJ456789");
        let run = RunOptions {
            test_command: Some(format!("TOKEN={secret} make")),
            ..RunOptions::default()
        };
        let file = stored(&FixRequest { run: run.clone(), ..begun() });
        assert!(!file.to_string().contains(&secret));
        let error = complete(&FixRequest::default(), &file).err().unwrap();
        assert!(error.hint.contains("give `--test-command` again"), "{}", error.hint);
        let again = FixRequest { run: run.clone(), ..FixRequest::default() };
        assert_eq!(complete(&again, &file).unwrap().request.run, run);
    }
}
