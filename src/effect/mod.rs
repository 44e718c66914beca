//! The contract: everything regreen can do to the outside world, as narrow traits over domain types.
//!
//! Rooms above call these traits; `adapter` keeps them. This room does not know how: no process,
//! file, socket or clock is named here.

mod clock;
mod failed;
mod forge;
mod model;
mod observe;
mod opinion;
mod remote;
mod screen;
mod store;
mod suite;
mod worktree;

pub use clock::Clock;
pub use failed::EffectError;
pub use forge::{
    ANNOTATION_LIMIT, Account, Activity, Annotation, BranchCommit, CHECK_LIMIT, COMMENT_LIMIT,
    CheckRun, CheckStatus, CommentKind, Conclusion, Done, Forge, ForgeError, ForgeErrorKind, Label,
    LeftOut, Level, NewIssue, NewPull, Permission, PullEdit, PullEnd, PullRequest, PullState,
    PutCheck, PutComment, PutIssue, PutPull, Reaction, RepositoryInfo, Said,
};
pub use model::{
    ANSWER_LIMIT, Answer, Finish, Manner, Model, ModelError, ModelErrorKind, Question,
};
pub use observe::{Call, Came, Observation, ObserveRequest, Observer, Way, World};
pub use opinion::{Concern, Mended, Opinions};
pub use remote::{PushRequest, Pushed, Rebased, Refuser, Remote, RemoteError, Wanted};
pub use screen::Screen;
pub use store::{Store, StoreError};
pub use suite::{
    CaseResult, Lines, RunError, RunRequest, Speed, Suite, SuiteFacts, Trace, Trial, TrialRequest,
};
pub use worktree::{CommitRequest, FileDiff, GitError, Hunk, StateFile, Worktree};

/// All effects of one session. Passed by reference; a recording can wrap any of them.
pub struct Effects<'a> {
    /// The private checkout.
    pub worktree: &'a dyn Worktree,
    /// The tests.
    pub suite: &'a dyn Suite,
    /// The session's files.
    pub store: &'a dyn Store,
    /// The time.
    pub clock: &'a dyn Clock,
    /// Who can be asked, in no order; the chain names them.
    pub models: &'a [Box<dyn Model>],
    /// Where people watch.
    pub screen: &'a dyn Screen,
}
