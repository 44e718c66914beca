//! The repository, what accounts may do there, its branches and workflows.

use serde_json::json;

use crate::domain::id::CommitId;
use crate::domain::retry::Repeat;
use crate::effect::{ForgeError, ForgeErrorKind, Permission, RepositoryInfo};

use super::client::{Call, GitHub, Verb, locked};
use super::route;
use super::shape::{Membership, PermissionAnswer, Reference, Repository};

/// Renames that are followed.
const MOVES: u32 = 3;

impl GitHub<'_> {
    pub(super) async fn read_repository(&self) -> Result<RepositoryInfo, ForgeError> {
        let what = "read the repository";
        let mut route = self.route(what, &[], &[])?;
        let (mut attempt, mut moves) = (1, 0);
        let value = loop {
            let call = Call {
                what,
                verb: Verb::Get,
                route: route.clone(),
                body: None,
                repeat: Repeat::Free,
            };
            match self.attempt(&call).await {
                Ok(value) => break value,
                // The shared client follows nothing; here the target is this very server.
                Err(failure) => {
                    let target = failure
                        .location
                        .as_deref()
                        .filter(|_| failure.error.kind == ForgeErrorKind::Moved && moves < MOVES)
                        .and_then(|to| to.strip_prefix(self.base.as_str()))
                        .filter(|rest| {
                            rest.starts_with("/repositories/") || rest.starts_with("/repos/")
                        });
                    if let Some(target) = target {
                        route = target.to_owned();
                        moves += 1;
                        continue;
                    }
                    self.pause(Repeat::Free, failure, attempt).await?;
                    attempt += 1;
                }
            }
        };
        let found: Repository = self.read(what, value)?;
        locked(&self.name).clone_from(&found.full_name);
        Ok(RepositoryInfo {
            full_name: found.full_name,
            default_branch: found.default_branch,
            private: found.private,
            fork: found.fork,
        })
    }

    pub(super) async fn read_permission(&self, login: &str) -> Result<Permission, ForgeError> {
        let what = "read the permission of an account";
        let route = self.route(what, &["collaborators", login, "permission"], &[])?;
        let answer: PermissionAnswer = self.get(what, route).await?;
        permission(&answer.permission, answer.role_name.as_deref()).ok_or_else(|| {
            let said =
                format!("`{}` is no known permission", super::refusal::short(&answer.permission));
            self.error(what, None, ForgeErrorKind::Malformed, &said)
        })
    }

    pub(super) async fn read_membership(
        &self,
        organisation: &str,
        team: &str,
        login: &str,
    ) -> Result<bool, ForgeError> {
        let what = "ask whether an account is in a team";
        let segments = ["orgs", organisation, "teams", team, "memberships", login];
        let Some(route) = route::path(segments) else {
            let said = super::refusal::short(&segments.join("/"));
            return Err(self.error(what, None, ForgeErrorKind::Invalid, &said));
        };
        match self.get::<Membership>(what, route).await {
            // An invitation that nobody took is no membership.
            Ok(found) => Ok(found.state == "active"),
            Err(ForgeError { kind: ForgeErrorKind::NotFound, .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    pub(super) async fn read_branch(&self, branch: &str) -> Result<Option<CommitId>, ForgeError> {
        let what = "read a branch";
        let mut segments = vec!["git", "ref", "heads"];
        segments.extend(branch.split('/'));
        let route = self.route(what, &segments, &[])?;
        match self.get::<Reference>(what, route).await {
            Ok(found) => self.commit(what, &found.object.sha).map(Some),
            Err(ForgeError { kind: ForgeErrorKind::NotFound, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) async fn dispatch(&self, file: &str, reference: &str) -> Result<(), ForgeError> {
        let what = "start a workflow";
        let call = Call {
            what,
            verb: Verb::Post,
            route: self.route(what, &["actions", "workflows", file, "dispatches"], &[])?,
            body: Some(json!({ "ref": reference })),
            repeat: Repeat::Never,
        };
        self.perform(&call).await.map(drop)
    }
}

/// The finer role counts only where it refines the base permission; a custom role is its base.
fn permission(base: &str, role: Option<&str>) -> Option<Permission> {
    Some(match (base, role) {
        ("admin", _) => Permission::Admin,
        ("maintain", _) | ("write", Some("maintain")) => Permission::Maintain,
        ("write", _) => Permission::Write,
        ("triage", _) | ("read", Some("triage")) => Permission::Triage,
        ("read", _) => Permission::Read,
        ("none", _) => Permission::None,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_refines_and_never_raises() {
        let table = [
            ("admin", Some("admin"), Some(Permission::Admin)),
            ("write", Some("maintain"), Some(Permission::Maintain)),
            ("write", Some("write"), Some(Permission::Write)),
            ("write", Some("release-team"), Some(Permission::Write)),
            ("write", None, Some(Permission::Write)),
            ("read", Some("triage"), Some(Permission::Triage)),
            ("read", Some("admin"), Some(Permission::Read)),
            ("read", Some("read"), Some(Permission::Read)),
            ("none", Some("write"), Some(Permission::None)),
            ("push", None, None),
            ("", None, None),
        ];
        for (base, role, expected) in table {
            assert_eq!(permission(base, role), expected, "{base} {role:?}");
        }
    }
}
