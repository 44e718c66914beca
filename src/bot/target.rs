//! What is tested and where its fix goes, from an event and what the forge adds to it.

use crate::domain::id::{CommitId, SessionId, slug};
use crate::domain::session::{SessionRecord, SessionStatus, refusal};
use crate::effect::{FetchTarget, Forge, ForgeError, PullRequest, PullState};

use super::trigger::{Cause, Known, Trigger};

/// What is tested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// `owner/name`, as the forge spells it.
    pub repository: String,
    /// Its default branch.
    pub default_branch: String,
    /// The pull request.
    pub number: Option<u64>,
    /// The commit under test.
    pub head: CommitId,
    /// Its branch.
    pub head_branch: Option<String>,
    /// Whether the head lies in another repository.
    pub foreign: bool,
    /// Whether anything may be written.
    pub writes: bool,
    /// The branch it is measured against.
    pub base_branch: Option<String>,
    /// Its commit, as far as known.
    pub base: Option<CommitId>,
}

/// Why there is nothing to test.
#[derive(Debug, thiserror::Error)]
pub enum NoTarget {
    /// The forge did not answer.
    #[error(transparent)]
    Forge(#[from] ForgeError),
    /// It has been decided already.
    #[error("pull request {0} is closed")]
    Closed(u64),
    /// A branch that does not exist.
    #[error("there is no branch `{0}`")]
    Branch(String),
    /// Neither head nor pull request.
    #[error("the event names no commit and no pull request")]
    Nothing,
}

impl Target {
    /// Asks for what the event does not say.
    ///
    /// # Errors
    ///
    /// [`NoTarget`].
    pub async fn find(trigger: &Trigger, forge: &dyn Forge) -> Result<Self, NoTarget> {
        let info = forge.repository().await?;
        let mut target = Self {
            repository: info.full_name,
            default_branch: info.default_branch,
            number: trigger.pull_request,
            head: CommitId::parse("0".repeat(40)).map_err(|_error| NoTarget::Nothing)?,
            head_branch: None,
            foreign: trigger.fork == Known::Yes,
            writes: trigger.writes != Known::No,
            base_branch: trigger.base.as_ref().map(|base| base.branch.clone()),
            base: trigger.base.as_ref().and_then(|base| base.commit.clone()),
        };
        let wanted = match &trigger.cause {
            Cause::Dispatch { inputs } => inputs.get("ref").filter(|name| !name.is_empty()),
            _ => None,
        };
        if let Some(name) = wanted {
            let name = name.strip_prefix("refs/heads/").unwrap_or(name);
            let tip = forge.branch_sha(name).await?;
            target.head = tip.ok_or_else(|| NoTarget::Branch(name.to_owned()))?;
            target.head_branch = Some(name.to_owned());
        } else if let Some(head) = &trigger.head {
            target.head = head.commit.clone();
            target.head_branch.clone_from(&head.branch);
        } else {
            let number = trigger.pull_request.ok_or(NoTarget::Nothing)?;
            target.of_pull(forge.pull(number).await?)?;
            return Ok(target);
        }
        if target.number.is_none()
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

    fn of_pull(&mut self, pull: PullRequest) -> Result<(), NoTarget> {
        if pull.state != PullState::Open {
            return Err(NoTarget::Closed(pull.number));
        }
        self.foreign = pull.is_foreign();
        self.head = pull.head.sha;
        self.head_branch = Some(pull.head.branch);
        self.base_branch = Some(pull.base.branch);
        self.base = Some(pull.base.sha);
        Ok(())
    }

    /// Where the configuration comes from, and what the head is measured against: the base of a
    /// pull request, so that a change never configures its own repair; the default branch for
    /// another branch. `None` for the default branch itself, whose own file counts.
    ///
    /// Source: product.md 13.17.
    #[must_use]
    pub fn measured_against(&self) -> Option<FetchTarget> {
        match (&self.base, &self.base_branch) {
            (Some(commit), _) => Some(FetchTarget::Commit(commit.clone())),
            (None, Some(branch)) => Some(FetchTarget::Branch(branch.clone())),
            (None, None) if self.head_branch.as_ref() != Some(&self.default_branch) => {
                Some(FetchTarget::Branch(self.default_branch.clone()))
            }
            (None, None) => None,
        }
    }

    /// The session's name; `number` tells further ones apart, from 1.
    #[must_use]
    pub fn session(&self, number: u32) -> Option<SessionId> {
        let place = match (self.number, &self.head_branch) {
            (Some(pull), _) => format!("pr-{pull}"),
            (None, Some(branch)) => slug(branch),
            (None, None) => self.head.short().to_owned(),
        };
        let end = if number > 1 { format!("-{number}") } else { String::new() };
        SessionId::parse(format!("WFS-test-{place}{end}")).ok()
    }

    /// What the fix is for, as a person would say it; branch names are foreign.
    #[must_use]
    pub fn name(&self) -> String {
        match (self.number, &self.head_branch) {
            (Some(number), _) => format!("#{number}"),
            (None, Some(branch)) => branch.clone(),
            (None, None) => self.head.short().to_owned(),
        }
    }
}

/// What a fix branch holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its tip.
    pub tip: CommitId,
    /// The session's record there, or right below a finished tip.
    pub record: Option<SessionRecord>,
    /// Whether every commit above the commit it tested, or without a record above the head, is the
    /// session's own.
    pub ours: bool,
}

/// How a run begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Begin {
    /// Anew; the branch goes from `replaces` to the new commits.
    New {
        /// The old tip, made of our commits only.
        replaces: Option<CommitId>,
    },
    /// From the state on the branch.
    Resume {
        /// The branch's tip.
        tip: CommitId,
    },
    /// Under another name: the branch is somebody else's, or theirs too.
    Elsewhere,
}

/// Decides how a run begins, from what lies on the fix branch.
///
/// # Errors
///
/// When a resume is asked for and there is nothing to go on with.
pub fn begin(
    found: Option<&Found>,
    head: &CommitId,
    resume: bool,
    limit: Option<u32>,
) -> Result<Begin, String> {
    let Some(found) = found else {
        return if resume {
            Err("there is no stopped session of this head".into())
        } else {
            Ok(Begin::New { replaces: None })
        };
    };
    let Some(record) = found.record.as_ref().filter(|_| found.ours) else {
        return if found.ours && resume {
            Err("the state of the session stayed on the machine that ran it (`commit-state: none`), so no other can go on with it".into())
        } else if found.ours {
            Ok(Begin::New { replaces: Some(found.tip.clone()) })
        } else if resume {
            Err("the fix branch holds commits that are not of a session".into())
        } else {
            Ok(Begin::Elsewhere)
        };
    };
    let why_not = if record.git.head_sha == *head {
        refusal(record, limit)
    } else {
        Some(format!("it tested {}, and the head is {}", record.git.head_sha.short(), head.short()))
    };
    match why_not {
        None if resume || record.status != SessionStatus::Blocked => {
            Ok(Begin::Resume { tip: found.tip.clone() })
        }
        Some(reason) if resume => Err(format!("{} cannot go on: {reason}", record.session_id)),
        None | Some(_) => Ok(Begin::New { replaces: Some(found.tip.clone()) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::session::samples;
    use SessionStatus::{Active, Blocked, Completed, Paused};

    type Row = (Option<Found>, bool, Option<u32>, Result<Begin, ()>);

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
    }

    #[test]
    fn a_run_begins_from_what_lies_on_the_branch() {
        let found = |status, head, ours| Found {
            tip: id('e'),
            record: Some(samples::record(status, &id(head))),
            ours,
        };
        let new = |replaces: Option<CommitId>| Ok(Begin::New { replaces });
        let resume = || Ok(Begin::Resume { tip: id('e') });
        let old = || new(Some(id('e')));
        let table: Vec<Row> = vec![
            (None, false, None, new(None)),
            (None, true, None, Err(())),
            (Some(found(Active, 'a', true)), false, None, resume()),
            (Some(found(Active, 'a', true)), true, None, resume()),
            (Some(found(Paused, 'a', true)), true, None, resume()),
            (Some(found(Active, 'b', true)), false, None, old()),
            (Some(found(Active, 'b', true)), true, None, Err(())),
            (Some(found(Completed, 'a', true)), false, None, old()),
            (Some(found(Completed, 'a', true)), true, None, Err(())),
            (Some(found(Blocked, 'a', true)), false, Some(20), old()),
            (Some(found(Blocked, 'a', true)), true, Some(20), resume()),
            (Some(found(Blocked, 'a', true)), true, Some(10), Err(())),
            (Some(found(Active, 'a', false)), false, None, Ok(Begin::Elsewhere)),
            (Some(found(Active, 'a', false)), true, None, Err(())),
            // Without a record: the state did not travel.
            (Some(Found { record: None, ..found(Active, 'a', true) }), false, None, old()),
            (Some(Found { record: None, ..found(Active, 'a', true) }), true, None, Err(())),
            (
                Some(Found { record: None, ..found(Active, 'a', false) }),
                false,
                None,
                Ok(Begin::Elsewhere),
            ),
        ];
        for (number, (found, wanted, limit, expected)) in table.into_iter().enumerate() {
            let begun = begin(found.as_ref(), &id('a'), wanted, limit).map_err(drop);
            assert_eq!(begun, expected, "row {number}");
        }
    }
}
