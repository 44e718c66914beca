//! Checks the permission of a comment's author, for each command (specification.md 2.5).

use std::collections::BTreeSet;

use crate::effect::{Forge, Permission};

use super::permission::{self, Account, AllowList, PermissionCheck, PermissionDenied};

/// Decides on one author. Teams are queried only if nothing else allows the command.
pub async fn decide(
    forge: &dyn Forge,
    allowed: &AllowList,
    commander: Option<&Account>,
    edited: bool,
) -> Result<(), PermissionDenied> {
    let permission = match commander {
        Some(who) => forge.permission(&who.login).await.map_err(|error| error.to_string()),
        None => Ok(Permission::None),
    };
    let permission = permission.as_ref().copied().map_err(String::as_str);
    let nobody = BTreeSet::new();
    let question = PermissionCheck { commander, edited, permission, teams: Ok(&nobody), allowed };
    let decision = permission::decide(&question);
    let open = matches!(decision, Err(PermissionDenied::NotListed { .. }));
    let Some(who) = commander.filter(|_| open && !allowed.teams.is_empty()) else {
        return decision;
    };
    let teams = teams(forge, allowed, &who.login).await;
    let teams = teams.as_ref().map_err(String::as_str);
    permission::decide(&PermissionCheck { teams, ..question })
}

/// The configured teams that a user belongs to.
async fn teams(
    forge: &dyn Forge,
    allowed: &AllowList,
    login: &str,
) -> Result<BTreeSet<String>, String> {
    let mut member = BTreeSet::new();
    let mut fault = None;
    for name in &allowed.teams {
        let Some((organisation, team)) = name.split_once('/') else {
            fault = Some(format!("`{name}` is not written as `organisation/team`"));
            continue;
        };
        match forge.is_member(organisation, team, login).await {
            Ok(true) => {
                member.insert(name.clone());
                return Ok(member);
            }
            Ok(false) => {}
            Err(error) => {
                fault = Some(format!(
                    "{error}; a job's token cannot read teams: pass the step the `token` of an App with `members: read`"
                ));
            }
        }
    }
    fault.map_or(Ok(member), Err)
}
