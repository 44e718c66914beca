//! `ForgeError`: failed calls to the hosting service, with a hint for each kind of failure.

use std::time::Duration;

/// A failed call to the forge.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot {call}: {kind}{}", detail(*.status, .message))]
pub struct ForgeError {
    /// The request, such as `create the check run`.
    pub call: &'static str,
    /// HTTP status, when there was an answer.
    pub status: Option<u16>,
    pub kind: ForgeErrorKind,
    /// Message and field errors of the forge, truncated and without secrets.
    pub message: String,
}

/// Kinds of failures, distinguished by what can be done about them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ForgeErrorKind {
    /// 401: the token is invalid or expired.
    #[error("the token was refused")]
    Unauthorised,
    /// 403: the token may not do this.
    #[error("the token may not do this")]
    Denied {
        /// Permissions that would suffice, as the forge names them.
        needed: Option<String>,
    },
    /// The forge refused a request that needs the same permission, so this one was not sent.
    #[error("the token may not do this, as said before")]
    DeniedBefore,
    #[error("workflows may not open pull requests here")]
    CreationForbidden,
    /// 404, 410 or a disabled feature; also anything that the token may not see.
    #[error("it does not exist or is not visible to the token")]
    NotFound,
    #[error("the repository has another name")]
    Moved,
    /// 400, 422 and the like: the request itself is invalid.
    #[error("the request was refused")]
    Invalid,
    /// A rate limit that lasts too long to wait for.
    #[error("rate limited{}", .wait.map_or_else(String::new, |wait| format!(" for {} s", wait.as_secs())))]
    RateLimited {
        /// How long, when the forge says so.
        wait: Option<Duration>,
    },
    #[error("the service is unavailable")]
    Unavailable,
    #[error("no time is left")]
    TooLate,
    #[error("the branch moved")]
    Stale,
    /// A response that does not match the forge's API.
    #[error("the answer is not understood")]
    Malformed,
}

impl ForgeError {
    /// Whether the same call may succeed later, so that the caller keeps it and tries again.
    pub fn is_transient(&self) -> bool {
        use ForgeErrorKind::{Malformed, RateLimited, TooLate, Unavailable};
        matches!(self.kind, RateLimited { .. } | Unavailable | TooLate | Malformed)
    }

    /// What the reader can do next, in one imperative clause.
    pub fn hint(&self) -> String {
        let hint = match &self.kind {
            ForgeErrorKind::Unauthorised => "check the token",
            ForgeErrorKind::Denied { needed: Some(needed) } => {
                // The API writes `pull_requests=write`, a workflow file `pull-requests: write`.
                let needed = needed.replace('_', "-").replace('=', ": ").replace(',', ", ");
                return format!("give the job `permissions` with {needed}");
            }
            ForgeErrorKind::Denied { needed: None } => {
                "look at `permissions` of the job; pull requests of forks get a token that only reads"
            }
            ForgeErrorKind::DeniedBefore => "add the permission that is named above",
            ForgeErrorKind::CreationForbidden => {
                "turn on `Allow GitHub Actions to create and approve pull requests`, or open it by the link"
            }
            ForgeErrorKind::NotFound => "check the name, and whether the token may see it",
            ForgeErrorKind::Moved => "use the present name of the repository",
            ForgeErrorKind::Invalid => "report this request, the forge refuses it",
            ForgeErrorKind::RateLimited { .. } => "run again after the limit",
            ForgeErrorKind::Unavailable => "run again later, and look at the service's status page",
            ForgeErrorKind::TooLate => "raise the time limit of the run",
            ForgeErrorKind::Stale => "start again from the present head",
            ForgeErrorKind::Malformed => "check for a proxy between this machine and the forge",
        };
        hint.to_owned()
    }
}

fn detail(status: Option<u16>, message: &str) -> String {
    let status = status.map_or_else(String::new, |status| format!(" ({status})"));
    if message.is_empty() { status } else { format!("{status}: {message}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_what_the_forge_said_and_what_to_do() {
        let error = ForgeError {
            call: "create the check run",
            status: Some(403),
            kind: ForgeErrorKind::Denied { needed: Some("checks=write".into()) },
            message: "Resource not accessible by integration".into(),
        };
        assert_eq!(
            format!("{error}\n{}", error.hint()),
            "cannot create the check run: the token may not do this (403): \
             Resource not accessible by integration\n\
             give the job `permissions` with checks: write"
        );
        let needed = Some("contents=write,pull_requests=write".into());
        let error = ForgeError { kind: ForgeErrorKind::Denied { needed }, ..error };
        assert_eq!(
            error.hint(),
            "give the job `permissions` with contents: write, pull-requests: write"
        );
    }
}
