//! Decides who may give commands (specification.md 2.5). Pure; whatever is unknown refuses.

use std::collections::BTreeSet;

use crate::effect::Permission;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AccountKind {
    /// A person.
    User,
    /// An App.
    Bot,
    /// An organisation, a mannequin, or something new.
    Other,
}

/// An account as an event names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Login; untrusted text of at most 100 harmless characters.
    pub login: String,
    /// The number that stays with the account.
    pub id: u64,
    pub kind: AccountKind,
}

/// Who may give commands, from `commands` in the base branch's configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowList {
    /// Least permission; `None` when only names count. Less than `write` is never enough.
    pub level: Option<Permission>,
    /// Logins, compared without case. They need write access as well.
    pub logins: BTreeSet<String>,
    /// Teams as `org/team`. They need write access as well.
    pub teams: BTreeSet<String>,
    /// Exact numeric ids of bots.
    pub bots: BTreeSet<u64>,
}

impl Default for AllowList {
    fn default() -> Self {
        Self {
            level: Some(Permission::Write),
            logins: BTreeSet::new(),
            teams: BTreeSet::new(),
            bots: BTreeSet::new(),
        }
    }
}

impl AllowList {
    /// Parses `commands.allow` (a level, the numeric id of a bot, or a login) and `commands.teams`.
    pub fn new(allow: &[String], teams: &[String]) -> Self {
        if allow.is_empty() && teams.is_empty() {
            return Self::default();
        }
        let mut allowed = Self {
            level: None,
            teams: teams.iter().map(|team| team.to_lowercase()).collect(),
            ..Self::default()
        };
        for word in allow {
            if let Ok(level) = serde_json::from_value::<Permission>(word.as_str().into()) {
                allowed.level = Some(allowed.level.map_or(level, |known| known.min(level)));
            } else if let Ok(id) = word.parse() {
                allowed.bots.insert(id);
            } else {
                allowed.logins.insert(word.to_lowercase());
            }
        }
        allowed
    }
}

/// Everything that the decision depends on.
#[derive(Clone, Debug)]
pub struct PermissionCheck<'a> {
    /// Who wrote the comment; `None` for a deleted account.
    pub commander: Option<&'a Account>,
    /// The comment was changed after it was written.
    pub edited: bool,
    /// The answer of the permission API, or why there is none.
    pub permission: Result<Permission, &'a str>,
    /// Teams of the author as `org/team`, or why they are unknown. Queried only when teams are
    /// configured.
    pub teams: Result<&'a BTreeSet<String>, &'a str>,
    /// Who may give commands.
    pub allowed: &'a AllowList,
}

/// Why an author may not give commands.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PermissionDenied {
    #[error("the account that wrote the comment no longer exists")]
    Deleted,
    #[error("the comment was edited; write a new one")]
    Edited,
    #[error("a bot commands only when its numeric id {id} is in `commands.allow`")]
    Bot { id: u64 },
    #[error("only people and listed bots may command")]
    Kind,
    #[error("the permission could not be checked: {reason}")]
    Unknown { reason: String },
    #[error("commands need write access, and this account has {has:?}")]
    Below { has: Permission },
    #[error("`commands` does not name this account, its level {has:?} or a team of it")]
    NotListed { has: Permission },
    #[error("`commands.teams` could not be checked: {reason}")]
    Teams { reason: String },
}

/// Decides by the first rule: deleted author, edited comment, bot id, query, access, allow list.
pub fn decide(question: &PermissionCheck<'_>) -> Result<(), PermissionDenied> {
    refusal(question).map_or(Ok(()), Err)
}

fn refusal(question: &PermissionCheck<'_>) -> Option<PermissionDenied> {
    let allowed = question.allowed;
    let Some(who) = question.commander else { return Some(PermissionDenied::Deleted) };
    if question.edited {
        return Some(PermissionDenied::Edited);
    }
    match who.kind {
        AccountKind::Bot if allowed.bots.contains(&who.id) => return None,
        AccountKind::Bot => return Some(PermissionDenied::Bot { id: who.id }),
        AccountKind::Other => return Some(PermissionDenied::Kind),
        AccountKind::User => {}
    }
    let has = match question.permission {
        Ok(level) => level,
        Err(reason) => return Some(PermissionDenied::Unknown { reason: reason.to_owned() }),
    };
    if has < Permission::Write {
        return Some(PermissionDenied::Below { has });
    }
    let by_level = allowed.level.is_some_and(|level| has >= level);
    if by_level || allowed.logins.contains(&who.login.to_lowercase()) {
        return None;
    }
    if allowed.teams.is_empty() {
        return Some(PermissionDenied::NotListed { has });
    }
    match question.teams {
        Err(reason) => Some(PermissionDenied::Teams { reason: reason.to_owned() }),
        Ok(teams) => {
            let member = teams.iter().any(|team| allowed.teams.contains(&team.to_lowercase()));
            (!member).then_some(PermissionDenied::NotListed { has })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use AccountKind::{Bot, Other, User};

    type Row = (
        &'static str,
        AccountKind,
        bool,
        Result<Permission, &'static str>,
        Vec<String>,
        Option<&'static str>,
    );

    const UNASKED: Result<&BTreeSet<String>, &str> = Err("not asked");

    #[test]
    fn the_first_rule_that_holds_wins() {
        let list = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let table: [Row; 16] = [
            ("a writer", User, false, Ok(Permission::Write), vec![], None),
            ("an admin", User, false, Ok(Permission::Admin), vec![], None),
            ("a reader", User, false, Ok(Permission::Read), vec![], Some("need write")),
            ("triage", User, false, Ok(Permission::Triage), vec![], Some("need write")),
            ("an edit by an admin", User, true, Ok(Permission::Admin), vec![], Some("edited")),
            ("no answer", User, false, Err("403"), vec![], Some("403")),
            ("listed, no answer", User, false, Err("403"), list(&["octo"]), Some("403")),
            ("any bot", Bot, false, Ok(Permission::Admin), vec![], Some("numeric id 7")),
            ("a bot by name", Bot, false, Ok(Permission::Admin), list(&["octo"]), Some("numeric")),
            ("a bot by number", Bot, false, Err("404"), list(&["7"]), None),
            ("an edited bot", Bot, true, Ok(Permission::Write), list(&["7"]), Some("edited")),
            (
                "a person with a bot's number",
                User,
                false,
                Ok(Permission::Write),
                list(&["7"]),
                Some("not name"),
            ),
            ("listed, any case", User, false, Ok(Permission::Write), list(&["OCTO"]), None),
            (
                "listed reader",
                User,
                false,
                Ok(Permission::Read),
                list(&["octo"]),
                Some("need write"),
            ),
            (
                "`read` configured",
                User,
                false,
                Ok(Permission::Read),
                list(&["read"]),
                Some("need write"),
            ),
            (
                "below the level",
                User,
                false,
                Ok(Permission::Write),
                list(&["admin"]),
                Some("not name"),
            ),
        ];
        for (why, kind, edited, permission, allow, refused) in table {
            let who = Account { login: "Octo".into(), id: 7, kind };
            let allowed = AllowList::new(&allow, &[]);
            let question = PermissionCheck {
                commander: Some(&who),
                edited,
                permission,
                teams: UNASKED,
                allowed: &allowed,
            };
            match (decide(&question), refused) {
                (Ok(()), None) => {}
                (Err(reason), Some(part)) => {
                    assert!(reason.to_string().contains(part), "{why}: {reason}");
                }
                (decision, expected) => panic!("{why}: {decision:?}, expected {expected:?}"),
            }
        }
    }

    #[test]
    fn nobody_and_other_kinds_are_refused() {
        let allowed = AllowList::default();
        let nobody = PermissionCheck {
            commander: None,
            edited: false,
            permission: Ok(Permission::Admin),
            teams: UNASKED,
            allowed: &allowed,
        };
        assert_eq!(decide(&nobody), Err(PermissionDenied::Deleted));
        let who = Account { login: "org".into(), id: 1, kind: Other };
        let other = PermissionCheck { commander: Some(&who), ..nobody };
        assert_eq!(decide(&other), Err(PermissionDenied::Kind));
    }

    #[test]
    fn a_team_counts_only_when_it_is_known_and_the_member_writes() {
        let who = Account { login: "octo".into(), id: 7, kind: User };
        let allowed = AllowList::new(&[], &["Acme/QA".into()]);
        let qa: BTreeSet<String> = ["acme/qa".to_owned()].into();
        let none = BTreeSet::new();
        let ask = |permission, teams| {
            decide(&PermissionCheck {
                commander: Some(&who),
                edited: false,
                permission,
                teams,
                allowed: &allowed,
            })
        };
        assert_eq!(ask(Ok(Permission::Write), Ok(&qa)), Ok(()));
        assert!(matches!(
            ask(Ok(Permission::Write), Ok(&none)),
            Err(PermissionDenied::NotListed { .. })
        ));
        assert!(matches!(ask(Ok(Permission::Write), UNASKED), Err(PermissionDenied::Teams { .. })));
        assert!(matches!(ask(Ok(Permission::Read), Ok(&qa)), Err(PermissionDenied::Below { .. })));
    }
}
