//! One run of the fix loop from end to end: open, drive, close.

use std::path::PathBuf;
use std::time::Duration;

use futures::lock::Mutex;
use globset::GlobSet;

use crate::domain::event::{Event, Outcome, WrittenWork};
use crate::domain::fix_loop::FixTerms;
use crate::domain::id::{CommitId, SessionId, TreeId};
use crate::domain::integration::Integration;
use crate::domain::memory::{self, EARLIER, Memory};
use crate::domain::session::files::{INTEGRATION, PIPELINE};
use crate::domain::test_plan::pipeline::Pipeline;
use crate::effect::Effects;
use crate::report::{lessons, planning};
use crate::role::{AskSettings, ChainEntry, Fixer, FixerSettings, Impact};

use crate::cycle::drive::{Driven, Journal, drive};
use crate::cycle::error::Failure;
use crate::cycle::session_files::{generation, planned_session, read};

use super::close::close;
use super::open::open;
use super::perform::Performer;

/// Inputs of a run besides its effects.
#[derive(Clone, Debug)]
pub struct FixInputs {
    pub session: SessionId,
    /// The repository, as the user named it.
    pub repository: String,
    /// The commit under test.
    pub head: CommitId,
    /// The branch the user had checked out.
    pub onto: Option<String>,
    /// The merge base and its sources.
    pub base: Option<(CommitId, TreeId)>,
    /// What holds test code back, one sentence each.
    pub protection: Vec<String>,
    /// Limits and mode of the session.
    pub terms: FixTerms,
    /// A new iteration limit, given when the session is resumed.
    pub raised_limit: Option<u32>,
    /// Whether the checked-out commit differs from the one on which the session began.
    pub moved: bool,
    /// Wall time limit of this run.
    pub budget: Option<Duration>,
    /// Number of candidates that are tried in parallel.
    pub jobs: usize,
    /// Globs of files that no edit may touch.
    pub protect: GlobSet,
    /// Globs of the files that the test command runs by themselves.
    pub run_by_command: GlobSet,
    /// Folder of regreen's own files inside commits.
    pub state_root: String,
    /// The session's folder inside commits.
    pub state_prefix: String,
    /// Where the session's folder is moved once its gate is met.
    pub archive: PathBuf,
    /// The options of this run, as words of a command line.
    pub options: Vec<String>,
    /// Notices to show before the run begins.
    pub notices: Vec<String>,
    /// Providers that analyse and fix, in the order in which they are asked.
    pub chain: Vec<ChainEntry>,
    pub ask: AskSettings,
}

/// Where a run of the loop ended.
pub struct LoopEnd {
    pub outcome: Outcome,
    /// Lines of the session's event stream.
    pub events: u64,
    /// What later sessions may begin with.
    pub learned: Memory,
}

/// Runs the loop until its verdict or next checkpoint; what precedes a failure is saved.
pub async fn run(inputs: FixInputs, fx: &Effects<'_>) -> Result<LoopEnd, Failure> {
    let (limits, budget) = (inputs.ask.session, inputs.budget);
    let mut performer = Performer {
        fx,
        base: inputs.base.as_ref().map(|(commit, _)| commit.clone()),
        protection: inputs.protection,
        state_prefix: inputs.state_prefix,
        fixer: Fixer::new(FixerSettings {
            budget,
            jobs: inputs.jobs,
            protect: inputs.protect,
            state_root: inputs.state_root,
            base: inputs.base,
            chain: inputs.chain,
            ask: inputs.ask,
        }),
        impact: Mutex::new(Impact::new(inputs.run_by_command)),
        compared: Mutex::default(),
    };
    let opened =
        open(&inputs.session, &inputs.head, inputs.terms, inputs.raised_limit, inputs.moved, fx)
            .await?;
    let facts = fx.suite.facts();
    let mut events = vec![Event::Opened {
        session: inputs.session.to_string(),
        repository: inputs.repository,
        head: inputs.head,
        branch: fx.worktree.branch().to_owned(),
        framework: facts.framework.to_string(),
        command: facts.command.clone(),
        resumed: opened.resumed,
    }];
    let is_earlier = |text: &&String| text.starts_with(EARLIER);
    let earlier = inputs.notices.iter().filter(is_earlier).cloned().collect();
    events.extend(inputs.notices.into_iter().map(|text| Event::Notice { text }));
    let written = written_work(fx, &mut events).await?;
    let tasks = planned_session(fx).await?.map(|plan| planning::rows(&plan));
    events.extend(tasks.map(|tasks| Event::Tasks { tasks }));
    events.extend(opened.events);
    let state = Journal::from(fx).announce(&opened.state, opened.state.clone(), &events).await?;
    let Driven { state, stopped } = drive(state, &mut performer, fx.into(), budget).await?;
    let stopped = stopped.unwrap_or_default().raising(&limits, &state.spending);
    let outcome = close(
        &state,
        &performer,
        inputs.onto,
        stopped,
        (inputs.options, earlier, written),
        &inputs.archive,
    )
    .await?;
    let now = fx.clock.now().parse().unwrap_or_default();
    let facts = [("framework", facts.framework.to_string()), ("command", facts.command.clone())];
    let facts = facts.each_ref().map(|(name, value)| (*name, value.as_str()));
    let mut learned = memory::learn(&state, &facts, now);
    if outcome.result.meets_gate() {
        learned.lessons = lessons::remembered(&outcome, now);
    }
    Ok(LoopEnd { outcome, events: state.events, learned })
}

/// What was written, in a session that writes tests, and the events that say so.
async fn written_work(
    fx: &Effects<'_>,
    events: &mut Vec<Event>,
) -> Result<Option<WrittenWork>, Failure> {
    if let Some(state) = read::<Integration>(fx, INTEGRATION).await? {
        let work = state.written_work();
        let files = work.files.clone();
        events.extend((!files.is_empty()).then_some(Event::TestsWritten { files }));
        return Ok(Some(work));
    }
    if let Some(generation) = generation(fx).await? {
        events.push(Event::Notice { text: planning::headline(&generation) });
        let work = generation.written_work();
        let files = work.files.clone();
        events.extend((!files.is_empty()).then_some(Event::TestsWritten { files }));
        return Ok(Some(work));
    }
    let obstacle = "no test is missing here".to_owned();
    let pipeline = read::<Pipeline>(fx, PIPELINE).await?;
    Ok(pipeline.map(|_| WrittenWork { obstacle, ..WrittenWork::default() }))
}
