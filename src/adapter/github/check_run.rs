//! Check runs: finds or creates ours for a commit, updates it, and sends annotations in batches.

use futures::{FutureExt as _, TryFutureExt as _};
use serde_json::{Value, json};

use crate::domain::check::TITLE_LIMIT;
use crate::domain::retry::Repeat;
use crate::effect::{
    ANNOTATION_LIMIT, Annotation, CHECK_LIMIT, CheckRun, CheckStatus, Conclusion, Done, ForgeError,
    ForgeErrorKind, Level,
};

use super::client::{Call, Created, GitHub, PAGE, Verb, locked};
use super::error_response::{cut, cut_line};
use super::responses::{Run, Runs};

/// Annotations that GitHub accepts in one request.
const BATCH: usize = 50;

/// Pages of check runs that are searched for ours.
const PAGES: usize = 5;

impl GitHub<'_> {
    pub(super) async fn write_check(&self, run: &CheckRun) -> Result<Done, ForgeError> {
        let key = (run.head_sha.to_string(), run.external_id.clone());
        // A list is read once; after that only a run that is gone, or of which it is not known what
        // it holds, is looked for again.
        let known = locked(&self.checks).remove(&key);
        if let Some((id, held)) = known {
            match self.fill(run, id, held).await {
                Ok(held) => {
                    locked(&self.checks).insert(key, (id, held));
                    return Ok(Done::Edited);
                }
                Err(error) if error.kind == ForgeErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        let mut foreign = Vec::new();
        for found in self.find_runs(run).await? {
            match self.fill(run, found.id, count(&found)).await {
                Ok(held) => {
                    locked(&self.checks).insert(key, (found.id, held));
                    return Ok(Done::Edited);
                }
                // This run belongs to another App, and only that App may update it.
                Err(ForgeError { kind: ForgeErrorKind::Denied { .. }, message, .. })
                    if message.contains("app_id") =>
                {
                    foreign.push(found.id);
                }
                Err(error) => return Err(error),
            }
        }
        let (made, created) = self.create_run(run, &foreign).await?;
        // A new check run already holds the first batch; an existing one reports its own count.
        let mut held = if created { batch(run, 0).len() } else { count(&made) };
        if !created || held < run.annotations.len().min(ANNOTATION_LIMIT) {
            held = self.fill(run, made.id, held).await?;
        }
        locked(&self.checks).insert(key, (made.id, held));
        Ok(if created { Done::Created } else { Done::Edited })
    }

    /// Finds the check runs of this commit that carry our name and external id.
    async fn find_runs(&self, run: &CheckRun) -> Result<Vec<Run>, ForgeError> {
        let what = "read the check runs";
        let mut found = Vec::new();
        for page in 1..=PAGES {
            let (size, page) = (PAGE.to_string(), page.to_string());
            let route = self.route(
                what,
                &["commits", run.head_sha.as_str(), "check-runs"],
                &[
                    ("check_name", run.name.as_str()),
                    ("filter", "all"),
                    ("per_page", &size),
                    ("page", &page),
                ],
            )?;
            let runs = self.get::<Runs>(what, route).await?.check_runs;
            let last = runs.len() < PAGE;
            found.extend(
                runs.into_iter().filter(|one| one.external_id.as_deref() == Some(&run.external_id)),
            );
            if last {
                break;
            }
        }
        Ok(found)
    }

    /// Creates the run, or finds the one that an unanswered attempt created; also returns which.
    async fn create_run(&self, run: &CheckRun, foreign: &[u64]) -> Result<(Run, bool), ForgeError> {
        let what = "create the check run";
        let mut body = content(run, batch(run, 0));
        body["name"] = json!(run.name);
        body["head_sha"] = json!(run.head_sha.as_str());
        let route = self.route(what, &["check-runs"], &[])?;
        let call = Call::new(what, Verb::Post, route, body, Repeat::Look);
        let ours = |runs: Vec<Run>| runs.into_iter().find(|one| !foreign.contains(&one.id));
        let find = || self.find_runs(run).map_ok(ours).boxed();
        match self.create(&call, false, &find).await? {
            Created::Before(made) => Ok((made, false)),
            Created::Now(value) => {
                let made: Run = Self::read(what, value)?;
                self.learn_app(&made);
                Ok((made, true))
            }
        }
    }

    /// Updates a run and adds the annotations that it lacks; returns how many it holds then.
    async fn fill(&self, run: &CheckRun, id: u64, held: usize) -> Result<usize, ForgeError> {
        let what = "update the check run";
        let route = self.route(what, &["check-runs", &id.to_string()], &[])?;
        let all = run.annotations.len().min(ANNOTATION_LIMIT);
        let (mut held, mut attempt) = (held, 1);
        loop {
            let next = batch(run, held);
            let repeat = if next.is_empty() { Repeat::Free } else { Repeat::Look };
            let mut body = content(run, next);
            body["name"] = json!(run.name);
            let call = Call::new(what, Verb::Patch, route.clone(), body, repeat);
            match self.attempt(&call).await {
                Ok(value) => {
                    self.learn_app(&Self::read(what, value)?);
                    held += next.len();
                    attempt = 1;
                    if held >= all {
                        return Ok(held);
                    }
                }
                Err(failure) => {
                    if self.pause(repeat, failure, attempt).await? {
                        // GitHub appends annotations, so those that arrived must not be sent again.
                        held = count(&self.get::<Run>("read the check run", route.clone()).await?);
                    }
                    attempt += 1;
                }
            }
        }
    }

    /// Records the App behind the run as our account: only the App that made a run may change it.
    fn learn_app(&self, run: &Run) {
        // The login of an App's account is `<slug>[bot]`.
        self.learn(None, run.app["slug"].as_str().map(|slug| format!("{slug}[bot]")));
    }
}

fn count(run: &Run) -> usize {
    let count = run.output["annotations_count"].as_u64().unwrap_or_default();
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// The next annotations to send when GitHub already holds the first `held`.
fn batch(run: &CheckRun, held: usize) -> &[Annotation] {
    let all = run.annotations.get(..ANNOTATION_LIMIT).unwrap_or(&run.annotations);
    let rest = all.get(held..).unwrap_or_default();
    rest.get(..BATCH).unwrap_or(rest)
}

/// The fields that creating and updating a run have in common.
fn content(run: &CheckRun, annotations: &[Annotation]) -> Value {
    let mut output = json!({
        "title": cut_line(&run.title, TITLE_LIMIT),
        "summary": cut(&run.summary, CHECK_LIMIT),
    });
    if !run.text.is_empty() {
        output["text"] = json!(cut(&run.text, CHECK_LIMIT));
    }
    if !annotations.is_empty() {
        output["annotations"] = annotations.iter().map(annotation).collect();
    }
    let mut body = json!({ "external_id": run.external_id, "output": output });
    if let Some(url) = &run.details_url {
        body["details_url"] = json!(url);
    }
    match run.status {
        CheckStatus::Queued => body["status"] = json!("queued"),
        CheckStatus::InProgress => body["status"] = json!("in_progress"),
        CheckStatus::Completed(conclusion) => {
            body["status"] = json!("completed");
            body["conclusion"] = json!(match conclusion {
                Conclusion::Success => "success",
                Conclusion::Failure => "failure",
                Conclusion::Neutral => "neutral",
                Conclusion::ActionRequired => "action_required",
            });
        }
    }
    body
}

fn annotation(one: &Annotation) -> Value {
    let start = one.start_line.max(1);
    let mut value = json!({
        "path": one.path.as_str(),
        "start_line": start,
        "end_line": one.end_line.max(start),
        "annotation_level": match one.level {
            Level::Notice => "notice",
            Level::Warning => "warning",
            Level::Failure => "failure",
        },
        // GitHub rejects an annotation with an empty message.
        "message": if one.message.trim().is_empty() { "(no message)".to_owned() } else { cut(&one.message, CHECK_LIMIT) },
    });
    if !one.title.is_empty() {
        value["title"] = json!(cut_line(&one.title, TITLE_LIMIT));
    }
    value
}
