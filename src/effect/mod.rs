//! Traits for everything regreen does to the outside world: git, test runs, files, models, GitHub.
//!
//! `adapter` implements the traits and the modules above call them. Nothing in this module starts a
//! process, touches a file or socket, or reads the clock.

use crate::domain::event::Event;

mod clock;
mod error;
mod forge;
mod lint;
mod model;
mod observer;
mod remote_repository;
mod screen;
mod store;
mod suite;
mod worktree;

#[cfg(test)]
pub use clock::TestClock;
pub use clock::{Clock, end_before, unless_stopped};
pub use error::EffectError;
pub use forge::{
    ANNOTATION_LIMIT, Account, Annotation, BranchCommit, CHECK_LIMIT, COMMENT_LIMIT, CheckRun,
    CheckStatus, CommentKind, Conclusion, Done, Forge, ForgeEntry, ForgeError, ForgeErrorKind,
    Label, LabelErrors, Level, NewIssue, NewPull, Permission, PullEdit, PullEnd, PullRequest,
    PullState, PutIssue, PutPull, Reaction, RepositoryInfo,
};
pub use lint::{Concern, FixedFiles, LintReport};
pub use model::{
    ANSWER_LIMIT, Answer, Finish, Model, ModelError, ModelErrorKind, ModelFacts, Question,
    UsageMeter,
};
pub use observer::{
    Call, CallEffects, CallFolder, CallOutcome, Observation, ObserveRequest, Observer,
    ProbeRequest, ProbeResult, ResultKind, World,
};
pub use remote_repository::{
    FetchTarget, PushOutcome, PushRequest, RebasedPushOutcome, Refuser, RemoteError,
};
pub use screen::Screen;
pub use store::{Store, StoreError, read_as, read_or_forget};
pub use suite::{
    CandidateRunner, CandidateRunnerRequest, CaseResult, Lines, RunError, RunRequest, Speed, Suite,
    SuiteFacts, Trace,
};
pub use worktree::{CommitRequest, FileDiff, GitError, Hunk, INDEX_OF_COPIES, StateFile, Worktree};

/// All effects of one session. Passed by reference; a recording can wrap any of them.
pub struct Effects<'a> {
    pub worktree: &'a dyn Worktree,
    pub suite: &'a dyn Suite,
    pub observer: &'a dyn Observer,
    pub store: &'a dyn Store,
    pub clock: &'a dyn Clock,
    /// All available models, in no particular order; the provider chain refers to them by name.
    pub models: &'a [Box<dyn Model>],
    pub screen: &'a dyn Screen,
}

impl Effects<'_> {
    /// Reports that a longer step begins outside of any iteration.
    pub fn step(&self, doing: &str) {
        self.screen.show(&Event::Step { iteration: None, doing: doing.to_owned() });
    }
}
