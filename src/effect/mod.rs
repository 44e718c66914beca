//! The contract: everything regreen can do to the outside world, as narrow traits over domain types.
//!
//! Rooms above call these traits; `adapter` keeps them. This room does not know how: no process,
//! file, socket or clock is named here.

use crate::domain::event::Event;

mod clock;
mod error;
mod forge;
mod lint;
mod model;
mod observe;
mod remote;
mod screen;
mod store;
mod suite;
mod worktree;

pub use clock::Clock;
pub use error::EffectError;
pub use forge::{
    ANNOTATION_LIMIT, Account, Annotation, BranchCommit, CHECK_LIMIT, COMMENT_LIMIT, CheckRun,
    CheckStatus, CommentKind, Conclusion, Done, Forge, ForgeEntry, ForgeError, ForgeErrorKind,
    Label, LeftOut, Level, NewIssue, NewPull, Permission, PullEdit, PullEnd, PullRequest,
    PullState, PutIssue, PutPull, Reaction, RepositoryInfo,
};
pub use lint::{Concern, FixedFiles, LintReport};
pub use model::{
    ANSWER_LIMIT, Answer, Finish, Model, ModelError, ModelErrorKind, ModelFacts, Question,
};
pub use observe::{Call, CallOutcome, Observation, ObserveRequest, Observer, ResultKind, World};
pub use remote::{FetchTarget, PushOutcome, PushRequest, RebasedPushOutcome, Refuser, RemoteError};
pub use screen::Screen;
pub use store::{Store, StoreError};
pub use suite::{
    CandidateRunner, CandidateRunnerRequest, CaseResult, Lines, RunError, RunRequest, Speed, Suite,
    SuiteFacts, Trace,
};
pub use worktree::{CommitRequest, FileDiff, GitError, Hunk, StateFile, Worktree};

/// All effects of one session. Passed by reference; a recording can wrap any of them.
pub struct Effects<'a> {
    pub worktree: &'a dyn Worktree,
    pub suite: &'a dyn Suite,
    pub store: &'a dyn Store,
    pub clock: &'a dyn Clock,
    /// Who can be asked, in no order; the chain names them.
    pub models: &'a [Box<dyn Model>],
    pub screen: &'a dyn Screen,
}

impl Effects<'_> {
    /// Shows that a longer step begins, outside of any iteration.
    pub fn step(&self, doing: &str) {
        self.screen.show(&Event::Step { iteration: None, doing: doing.to_owned() });
    }
}
