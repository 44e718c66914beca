//! The commit under test and its branches, from the event and from the forge.

use crate::domain::id::{CommitId, SessionId, slug};
use crate::domain::session::SessionKind;
use crate::effect::{FetchTarget, Forge, ForgeError, PullRequest, PullState};

use super::trigger::{Cause, Trigger};

/// The commit under test, with its repository and branches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// `owner/name`, as the forge spells it.
    pub repository: String,
    pub default_branch: String,
    /// The pull request.
    pub number: Option<u64>,
    /// The commit under test.
    pub head: CommitId,
    pub head_branch: Option<String>,
    /// Whether the head is in another repository.
    pub foreign: bool,
    /// Whether the job may write to the repository.
    pub writes: bool,
    /// The branch that the head is compared with.
    pub base_branch: Option<String>,
    /// The commit of the base branch, if it is known.
    pub base: Option<CommitId>,
}

/// Why there is nothing to test.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The forge did not answer.
    #[error(transparent)]
    Forge(#[from] ForgeError),
    /// The event says so already.
    #[error("pull request {0} is closed")]
    Closed(u64),
    /// The branch does not exist.
    #[error("there is no branch `{0}`")]
    Branch(String),
    /// The event names neither a commit nor a pull request.
    #[error("the event names no commit and no pull request")]
    Nothing,
}

impl TargetError {
    /// What the reader can do, as an imperative clause.
    pub fn hint(&self) -> String {
        match self {
            Self::Forge(error) => error.hint(),
            Self::Closed(_) => "reopen it first".into(),
            Self::Branch(_) => "name a branch of this repository in `ref`".into(),
            Self::Nothing => "start it from a pull request, a branch or a comment".into(),
        }
    }
}

/// The branch that a person named in the form of the workflow.
fn requested_branch(trigger: &Trigger) -> Option<&str> {
    let Cause::Dispatch { inputs } = &trigger.cause else { return None };
    let name = inputs.get("ref").filter(|name| !name.is_empty())?;
    Some(name.strip_prefix("refs/heads/").unwrap_or(name))
}

impl Target {
    /// Asks the forge for what the event does not say.
    pub async fn find(trigger: &Trigger, forge: &dyn Forge) -> Result<Self, TargetError> {
        let info = forge.repository().await?;
        let mut pull = None;
        let (head, head_branch) = match (requested_branch(trigger), &trigger.head) {
            (Some(name), _) => {
                let tip = forge.branch_sha(name).await?;
                (tip.ok_or_else(|| TargetError::Branch(name.to_owned()))?, Some(name.to_owned()))
            }
            (None, Some(head)) => (head.commit.clone(), head.branch.clone()),
            (None, None) => {
                let number = trigger.pull_request.ok_or(TargetError::Nothing)?;
                let found = pull.insert(forge.pull(number).await?);
                (found.head.sha.clone(), Some(found.head.branch.clone()))
            }
        };
        let mut target = Self {
            repository: info.full_name,
            default_branch: info.default_branch,
            number: trigger.pull_request,
            head,
            head_branch,
            foreign: trigger.fork,
            writes: trigger.writes,
            base_branch: trigger.base.as_ref().map(|base| base.branch.clone()),
            base: trigger.base.as_ref().and_then(|base| base.commit.clone()),
        };
        if let Some(pull) = pull {
            target.of_pull(pull)?;
        } else if target.number.is_none()
            && !target.foreign
            && let Some(branch) = target.head_branch.clone()
            && branch != target.default_branch
        {
            let owner = target.repository.split('/').next().unwrap_or_default().to_owned();
            let pulls = forge.pulls_of_head(&owner, &branch).await?;
            let open = pulls.into_iter().find(|pull| pull.state == PullState::Open);
            if let Some(pull) = open.filter(|pull| pull.head.sha == target.head) {
                target.number = Some(pull.number);
                target.of_pull(pull)?;
            }
        }
        Ok(target)
    }

    fn of_pull(&mut self, pull: PullRequest) -> Result<(), TargetError> {
        if pull.state != PullState::Open {
            return Err(TargetError::Closed(pull.number));
        }
        self.foreign = pull.is_foreign();
        self.head = pull.head.sha;
        self.head_branch = Some(pull.head.branch);
        self.base_branch = Some(pull.base.branch);
        self.base = Some(pull.base.sha);
        Ok(())
    }

    /// The source of the configuration, and what the head is compared with: the base of a pull
    /// request, so that a change never configures its own repair; the default branch for another
    /// branch. `None` for the default branch itself, whose own file applies.
    ///
    /// Source: specification.md 2.6.
    pub fn measured_against(&self) -> Option<FetchTarget> {
        match (&self.base, &self.base_branch) {
            (Some(commit), _) => Some(FetchTarget::Commit(commit.clone())),
            (None, Some(branch)) => Some(FetchTarget::Branch(branch.clone())),
            // A branch of a fork may have the name of our default branch.
            (None, None)
                if self.foreign || self.head_branch.as_ref() != Some(&self.default_branch) =>
            {
                Some(FetchTarget::Branch(self.default_branch.clone()))
            }
            (None, None) => None,
        }
    }

    /// The id of the target's session; `number` distinguishes further ones, from 1.
    pub fn session(&self, number: u32) -> Option<SessionId> {
        self.session_of(SessionKind::Test, number)
    }

    /// The id of a session of this kind; one number belongs to one kind, so that numbers tell the order.
    pub fn session_of(&self, kind: SessionKind, number: u32) -> Option<SessionId> {
        let place = match (self.number, &self.head_branch) {
            (Some(pull), _) => format!("pr-{pull}"),
            (None, Some(branch)) => slug(branch),
            (None, None) => self.head.short().to_owned(),
        };
        let end = if number > 1 { format!("-{number}") } else { String::new() };
        let begin = if kind == SessionKind::Integration { "ITG" } else { "WFS-test" };
        SessionId::parse(format!("{begin}-{place}{end}")).ok()
    }

    /// A name of the target for people; branch names are untrusted.
    pub fn name(&self) -> String {
        match (self.number, &self.head_branch) {
            (Some(number), _) => format!("#{number}"),
            (None, Some(branch)) => branch.clone(),
            (None, None) => self.head.short().to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(digit: char) -> CommitId {
        CommitId::parse(digit.to_string().repeat(40)).unwrap()
    }

    fn target(head_branch: Option<&str>, base: Option<char>, base_branch: Option<&str>) -> Target {
        Target {
            repository: "octo/demo".into(),
            default_branch: "main".into(),
            number: None,
            head: id('a'),
            head_branch: head_branch.map(str::to_owned),
            foreign: false,
            writes: true,
            base_branch: base_branch.map(str::to_owned),
            base: base.map(id),
        }
    }

    #[test]
    fn a_change_never_configures_its_own_repair() {
        let main = || Some(FetchTarget::Branch("main".into()));
        let table = [
            (
                "a pull request",
                target(Some("t"), Some('b'), Some("main")),
                Some(FetchTarget::Commit(id('b'))),
            ),
            ("a base without commit", target(Some("t"), None, Some("main")), main()),
            ("the default branch", target(Some("main"), None, None), None),
            ("another branch", target(Some("side"), None, None), main()),
            ("a tag", target(None, None, None), main()),
        ];
        for (what, target, expected) in table {
            assert_eq!(target.measured_against(), expected, "{what}");
        }
        let fork = Target { foreign: true, ..target(Some("main"), None, None) };
        assert_eq!(fork.measured_against(), main(), "a fork's branch of that name");
    }
}
