//! What people see while a run goes on: one comment, one check run, and at the end a summary and
//! outputs. Paced, and repeated until the forge accepts it (specification.md 9.1).

mod end;

pub use end::missing_labels;

use std::path::PathBuf;
use std::time::Duration;

use crate::adapter::host::console::println;
use crate::config::PartialConclusion;
use crate::domain::budget::{SpendingLimits, micro_usd};
use crate::domain::check::Conclusion;
use crate::domain::command::RunLimits;
use crate::domain::event::Event;
use crate::domain::gate::TARGET;
use crate::domain::id::CommitId;
use crate::domain::test_plan::pipeline::{PHASES, Pipeline};
use crate::effect::{ForgeError, PullEdit};
use crate::report::check::{self, About};
use crate::report::comment::{comment, marker};
use crate::report::final_state::{CheckedCommit, FinalState};
use crate::report::forge_page::{BudgetLimits, CommandReply, EarlierWork, ForgePage, JobFailure};
use crate::report::planning::ACTIVE;
use crate::report::pull;
use crate::report::runner_commands;
use crate::report::todo::Step;
use crate::report::view::View;

use super::commits::{Commits, Published};
use super::context::Context;
use super::deliver;
use super::sessions;
use super::throttle::{PACE_VARIABLE, Throttle};
use super::trigger::Cause;

/// Least time between two updates: a token may make 500 content requests an hour per repository.
const PACE: Duration = Duration::from_secs(15);

/// Time limit of one post: during the run, after a signal, and at the end.
const WHILE: Duration = Duration::from_secs(20);
const LEAVING: Duration = Duration::from_secs(4);
const ENDING: Duration = Duration::from_mins(3);

/// Name of the check run; branch rules can require it.
const CHECK: &str = "regreen";

/// A comment or check run that is kept up to date.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Channel {
    /// Whether it shows less than is known.
    stale: bool,
    throttle: Throttle,
    /// Why the last attempt failed; untrusted text.
    error: Option<String>,
    /// Whether posting was given up.
    closed: bool,
}

impl Channel {
    /// Whether an update is due; the `last` one does not wait.
    pub fn is_due(&self, now: Duration, last: bool) -> bool {
        self.stale && !self.closed && (last || self.throttle.is_due(now))
    }

    fn record(&mut self, now: Duration, result: &Result<(), ForgeError>) {
        self.throttle.record(now);
        match result {
            Ok(()) => (self.stale, self.error) = (false, None),
            Err(error) => {
                // After a temporary failure the next update retries.
                self.closed = !error.is_transient();
                self.error = Some(format!("{error}; {}", error.hint()));
            }
        }
    }
}

/// Shows one session on the forge.
pub struct Publisher<'a> {
    context: &'a Context<'a>,
    pub session: String,
    /// Everything that is known about the session.
    pub view: View,
    pub answers: Vec<CommandReply>,
    pub limits: RunLimits,
    /// Why there is nothing to show.
    pub failure: Option<JobFailure>,
    /// Fixes and tests of other sessions, which this one does not replace.
    earlier_work: Vec<EarlierWork>,
    /// Why the server has not exactly what was tested.
    pub incomplete: Option<String>,
    /// The new head of the pull request, if it moved during the run.
    pub moved_to: Option<CommitId>,
    /// Whether the fix was pushed to the head branch.
    on_head: bool,
    /// The commit of the fix that the forge signed.
    signed: Option<CommitId>,
    /// Whether the plan of the session can no longer be carried out.
    pub plan_is_gone: bool,
    /// Whether a gate holds the tests of the session back.
    pub is_held: bool,
    /// Whether nothing is shown of the session itself.
    pub is_silent: bool,
    /// Whether the check run is left as an earlier session ended it.
    pub keeps_check: bool,
    /// Whether no run is in progress.
    pub idle: bool,
    /// The pull request with the fix.
    pub pull: Option<u64>,
    pull_url: Option<String>,
    branch_url: Option<String>,
    /// The tip of the fix on the server.
    tip: Option<CommitId>,
    /// Identifies the comment: one per pull request, for all of its sessions.
    key: String,
    page: Option<String>,
    /// Notices about the published commits.
    push_notices: Vec<String>,
    /// A stored result that waits to be applied.
    stored: Option<CommitId>,
    /// The folder that keeps the commits that were not pushed.
    unpushed: Option<PathBuf>,
    /// Commits of the iterations that the server has.
    pushed: Vec<CommitId>,
    /// The phases before the fix loop.
    phases: Vec<Step>,
    comment: Channel,
    check: Channel,
}

impl<'a> Publisher<'a> {
    /// A publisher that has posted nothing yet.
    pub fn new(context: &'a Context<'a>, session: String, answers: Vec<CommandReply>) -> Self {
        let throttle = Throttle::new(context.env, PACE_VARIABLE, PACE);
        let channel = Channel { throttle, ..Channel::default() };
        Self {
            context,
            session,
            view: View::default(),
            answers,
            limits: RunLimits::default(),
            failure: None,
            earlier_work: Vec::new(),
            incomplete: None,
            moved_to: None,
            on_head: false,
            signed: None,
            plan_is_gone: false,
            is_held: false,
            is_silent: false,
            keeps_check: false,
            idle: true,
            pull: None,
            pull_url: None,
            branch_url: None,
            tip: None,
            key: context.target.session(1).map_or_else(String::new, |session| session.to_string()),
            page: context.env.run_url(&context.target.repository),
            push_notices: Vec::new(),
            stored: None,
            unpushed: None,
            pushed: Vec::new(),
            phases: Vec::new(),
            comment: channel.clone(),
            check: channel,
        }
    }

    /// Looks for the work of other sessions.
    pub async fn find_earlier_work(&mut self) {
        match sessions::earlier(self.context, &self.session).await {
            Ok(work) => self.earlier_work = work,
            Err(error) => tracing::warn!(error = error.message, "earlier work is not known"),
        }
    }

    /// How the session stands; `None` while it runs.
    pub fn state(&self) -> Option<FinalState> {
        FinalState::of(&self.view, &self.facts(""))
    }

    /// Whether the run met the gate.
    pub fn is_met(&self) -> bool {
        self.failure.is_none()
            && self.view.outcome.as_ref().is_some_and(|outcome| outcome.result.meets_gate())
    }

    /// Adds an event to the view.
    pub fn add(&mut self, event: &Event) {
        self.view.add(event);
        // From here on the run itself knows how the head stands.
        self.keeps_check &= !matches!(event, Event::Baseline { .. });
        (self.comment.stale, self.check.stale) = (true, true);
    }

    /// Shows that a run has begun. The check run is posted first, since an App's token learns from
    /// it which account it has.
    pub async fn begin(&mut self) {
        (self.comment.stale, self.check.stale, self.idle) = (true, true, false);
        self.tick().await;
    }

    /// Posts the updates that are due.
    pub async fn tick(&mut self) {
        self.show(WHILE, false).await;
    }

    /// Posts the replies to commands above what is known, without a run to report on.
    pub async fn answers_only(&mut self) {
        self.comment.stale = true;
        self.show(ENDING, true).await;
        if self.context.target.number.is_none() || !self.context.target.writes {
            for answer in &self.answers {
                println!("{}", runner_commands::neutralise_commands(&answer.reply));
            }
            // The outputs are those of a run, and none took place.
            self.write_summary();
        }
        self.warn_of_stale_pages();
    }

    /// Opens a pull request with the pushed commits.
    pub async fn open_pull(&mut self, commits: &mut Commits<'_>) {
        let (title, body) = self.pull_texts();
        bounded(WHILE, "the pull request is opened later", commits.open_pull(&title, &body)).await;
        self.show_published(&commits.published);
    }

    /// Makes the one signed commit, where the configuration asks for it.
    pub async fn sign(&mut self, commits: &mut Commits<'_>) {
        let (title, _) = self.pull_texts();
        bounded(self.patience(), "there is no signed commit", commits.sign(&title)).await;
    }

    /// Updates title and description of the pull request with the fix.
    pub async fn describe(&self) {
        let Some(number) = self.pull else { return };
        let (title, body) = self.pull_texts();
        let body = format!("{}\n{body}", deliver::fix_marker(&self.session));
        let edit = PullEdit { title: Some(title), body: Some(body), ..PullEdit::default() };
        let problem = "the pull request says less than is known";
        let update = self.context.forge.update_pull(number, &edit);
        bounded(self.patience(), problem, update).await;
    }

    /// Title and body of the pull request with the fix.
    fn pull_texts(&self) -> (String, String) {
        let facts = ForgePage { pull_url: None, ..self.facts("") };
        let title = pull::title(&self.context.target.name(), &self.view, &facts);
        (title, pull::body(&self.view, &facts))
    }

    /// Records that the session's branch is on the server, and its pull request.
    pub fn show_branch(&mut self, tip: &CommitId, pull: Option<u64>) {
        self.find_pushed(tip);
        self.tip = Some(tip.clone());
        let place = format!("{}/{}", self.context.env.server(), self.context.target.repository);
        self.branch_url = Some(format!("{place}/tree/regreen/{}", self.session));
        self.pull = pull;
        self.pull_url = pull.map(|number| format!("{place}/pull/{number}"));
    }

    /// Records that the result waits to be applied.
    pub fn show_stored(&mut self, tip: CommitId) {
        self.stored = Some(tip);
    }

    /// Shows why nothing of a bundle was published, and nothing of what it claims.
    pub fn fail(&mut self, failure: JobFailure) {
        self.view = View {
            session: std::mem::take(&mut self.view.session),
            head: self.view.head.take(),
            notices: std::mem::take(&mut self.view.notices),
            ..View::default()
        };
        self.failure = Some(failure);
    }

    /// Records where the commits are kept that were not pushed.
    pub fn keep(&mut self, folder: PathBuf) {
        self.view.notices.push(format!(
            "the commits that were not pushed are kept in `{}`; upload that folder, and `mode: publish` with it as `bundle` publishes them",
            folder.file_name().unwrap_or_default().to_string_lossy()
        ));
        self.unpushed = Some(folder);
    }

    /// Records which phases of a test session are complete.
    pub fn show_phases(&mut self, pipeline: Option<&Pipeline>) {
        let Some(pipeline) = pipeline else { return };
        let phases = PHASES.iter().zip(ACTIVE).zip(1_u32..).map(|((name, active), number)| {
            let done = pipeline.phases.iter().any(|row| row.phase == number);
            Step::new(*name, active).done(done)
        });
        // The last phase is the fix loop, which the list shows anyway.
        self.phases = phases.take(PHASES.len() - 1).collect();
    }

    /// Finds the commits of the iterations that a tip on the server contains.
    fn find_pushed(&mut self, tip: &CommitId) {
        let clone = &self.context.prepared.clone;
        let commits = self.view.rows.iter().filter_map(|row| row.commit.as_ref());
        self.pushed = commits.filter(|commit| clone.contains(tip, commit)).cloned().collect();
    }

    /// Records what was published.
    pub fn show_published(&mut self, published: &Published) {
        self.tip.clone_from(&published.tip);
        self.on_head = published.on_head;
        self.signed.clone_from(&published.signed);
        self.stored.clone_from(&published.stored);
        if let Some((number, url)) = &published.pull {
            self.pull = *number;
            match number {
                Some(_) => self.pull_url = Some(url.clone()),
                None => self.branch_url = Some(url.clone()),
            }
        } else if let Some(tip) = &published.tip {
            self.show_branch(tip, None);
        }
        if let Some(tip) = published.server_tip() {
            self.find_pushed(tip);
        }
        self.push_notices = published.notices.iter().chain(&published.held).cloned().collect();
        for notice in published.notices.iter().chain(&published.held) {
            if !self.view.notices.contains(notice) {
                self.view.notices.push(notice.clone());
            }
        }
    }

    fn patience(&self) -> Duration {
        if self.context.clock.stop_requested() { LEAVING } else { ENDING }
    }

    async fn show(&mut self, patience: Duration, last: bool) {
        let now = self.context.clock.elapsed();
        let may = self.context.target.writes
            && self.context.env.text("mode") != Some("work")
            && !self.is_silent;
        if !may {
            return;
        }
        let time = self.context.clock.now();
        let time = time.get(11..16).map(|time| format!("{time} UTC")).unwrap_or_default();
        let is_checked = self.state().is_none_or(FinalState::is_checked);
        let says_nothing = self.keeps_check || !is_checked;
        if self.check.is_due(now, last) && !says_nothing {
            let head = (&self.context.target.head, CheckedCommit::Head);
            let result = tokio::time::timeout(patience, self.put_check(head, &time)).await;
            self.check.record(
                self.context.clock.elapsed(),
                &result.unwrap_or_else(|_| Err(too_late("write the check run"))),
            );
        }
        let wanted = self.is_comment_wanted();
        let due = self.comment.is_due(now, last) && (wanted || last);
        if let Some(number) = self.context.target.number.filter(|_| due) {
            let body = comment(&self.view, &self.facts(&time));
            let marker = marker(&self.key);
            let forge = self.context.forge;
            let posted = if wanted {
                forge.put_comment(number, &marker, &body)
            } else {
                forge.update_comment(number, &marker, &body)
            };
            let result = tokio::time::timeout(patience, posted).await;
            let result = result.unwrap_or_else(|_| Err(too_late("write the comment"))).map(|_| ());
            self.comment.record(self.context.clock.elapsed(), &result);
        }
    }

    /// Whether a comment is made where there is none. A green pull request has its check, and a
    /// comment nobody asked for would be noise, so a run that started by itself waits until it
    /// knows that something fails.
    fn is_comment_wanted(&self) -> bool {
        let asked =
            matches!(self.context.trigger.cause, Cause::Comment { .. } | Cause::Dispatch { .. });
        asked
            || !self.answers.is_empty()
            || match self.state() {
                None => !self.view.red.is_empty(),
                Some(state) => state != FinalState::Green,
            }
    }

    async fn put_check(
        &self,
        (commit, of): (&CommitId, CheckedCommit),
        time: &str,
    ) -> Result<(), ForgeError> {
        let partial = match self.context.prepared.settings.partial_conclusion {
            Some(PartialConclusion::Neutral) => Conclusion::Neutral,
            Some(PartialConclusion::Success) | None => Conclusion::Success,
        };
        let about = About { name: CHECK, head_sha: commit, commit: of, partial };
        let run = check::check(&self.view, &self.facts(time), &about);
        self.context.forge.put_check(&run).await.map(|_| ())
    }

    /// What the pages show besides the events.
    fn facts<'b>(&'b self, now: &'b str) -> ForgePage<'b> {
        let env = self.context.env;
        ForgePage {
            server_url: env.server(),
            repository: &self.context.target.repository,
            session: &self.key,
            pull: self.context.target.number,
            run_url: self.page.as_deref(),
            report_url: None,
            branch_url: self.branch_url.as_deref(),
            pull_url: self.pull_url.as_deref(),
            stored: self.stored.as_ref(),
            pushed: &self.pushed,
            idle: self.idle,
            failure: self.failure.as_ref(),
            earlier_work: &self.earlier_work,
            incomplete: self.incomplete.as_deref(),
            moved_to: self.moved_to.as_ref(),
            on_head: self.context.target.head_branch.as_deref().filter(|_| self.on_head),
            plan_is_gone: self.plan_is_gone,
            is_held: self.is_held,
            budget: BudgetLimits {
                iterations: self.limits.max_iterations,
                minutes: self.limits.minutes,
                providers: SpendingLimits {
                    micro_usd: self.limits.usd.map(micro_usd),
                    tokens: self.limits.tokens,
                    calls: self.limits.calls,
                },
            },
            target: Some(self.target_rate()),
            answers: &self.answers,
            phases: &self.phases,
            now,
        }
    }

    fn target_rate(&self) -> u32 {
        let gate = self.context.prepared.settings.gate.as_ref();
        gate.and_then(|gate| gate.target).unwrap_or(TARGET)
    }
}

/// Awaits a call up to a time limit, and logs its error.
async fn bounded(
    limit: Duration,
    problem: &str,
    call: impl Future<Output = Result<(), ForgeError>>,
) {
    match tokio::time::timeout(limit, call).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%error, "{problem}"),
        Err(_elapsed) => tracing::warn!("{problem}: no answer in {} s", limit.as_secs()),
    }
}

fn too_late(call: &'static str) -> ForgeError {
    ForgeError {
        call,
        status: None,
        kind: crate::effect::ForgeErrorKind::TooLate,
        message: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bot::environment::ActionEnv;
    use crate::effect::ForgeErrorKind;

    fn failure(kind: ForgeErrorKind) -> Result<(), ForgeError> {
        Err(ForgeError { call: "post", status: None, kind, message: String::new() })
    }

    #[test]
    fn a_channel_is_paced_and_gives_up_only_for_good() {
        let second = Duration::from_secs;
        let env = ActionEnv::default();
        let throttle = Throttle::new(&env, PACE_VARIABLE, PACE);
        let mut channel = Channel { stale: true, throttle, ..Channel::default() };
        assert!(channel.is_due(second(0), false), "the first at once");
        channel.record(second(1), &failure(ForgeErrorKind::Unavailable));
        assert!(!channel.is_due(second(10), false), "not sooner than the pace");
        assert!(channel.is_due(second(10), true), "the last one does not wait");
        assert!(channel.is_due(second(16), false), "what was not posted comes at the next chance");
        channel.record(second(16), &Ok(()));
        assert!(!channel.is_due(second(60), true), "nothing new");
        channel.stale = true;
        channel.record(second(60), &failure(ForgeErrorKind::NotFound));
        assert!(!channel.is_due(second(600), true), "refused for good");
        let reason = channel.error.unwrap_or_default();
        assert!(reason.starts_with("cannot post: ") && reason.contains("; check"), "{reason}");
    }
}
