//! Why the forge did not do what it was asked, and what to do then.

use std::fmt;
use std::time::Duration;

/// Why the forge did not do it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgeError {
    /// What was asked of it, such as `create the check run`.
    pub call: &'static str,
    /// HTTP status, when there was an answer.
    pub status: Option<u16>,
    pub kind: ForgeErrorKind,
    /// What the forge said: message and field errors, bounded, without secrets.
    pub said: String,
}

/// What went wrong, by what can be done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForgeErrorKind {
    /// 401: the token is wrong or over.
    Unauthorised,
    /// 403: the token may not do this.
    Denied {
        /// Permissions that would do, as the forge names them.
        needed: Option<String>,
    },
    /// 403: settings do not let a workflow open pull requests.
    CreationForbidden,
    /// 404, 410 or a feature that is turned off; also what the token may not see.
    NotFound,
    /// The repository has another name now.
    Moved,
    /// 400, 422 and the like: the request itself is refused.
    Invalid,
    /// A limit that lasts longer than it is worth waiting for.
    RateLimited {
        /// How long, when the forge says so.
        wait: Option<Duration>,
    },
    /// The service fails or cannot be reached.
    Unavailable,
    /// The run has no time left for it.
    TooLate,
    /// The branch moved.
    Stale,
    /// An answer that is not what the forge's contract says.
    Malformed,
}

impl ForgeError {
    /// Whether the same call may work later: what it was to post is kept and posted at the next
    /// chance.
    #[must_use]
    pub fn passes(&self) -> bool {
        match self.kind {
            ForgeErrorKind::RateLimited { .. }
            | ForgeErrorKind::Unavailable
            | ForgeErrorKind::TooLate
            | ForgeErrorKind::Malformed => true,
            ForgeErrorKind::Unauthorised
            | ForgeErrorKind::Denied { .. }
            | ForgeErrorKind::CreationForbidden
            | ForgeErrorKind::NotFound
            | ForgeErrorKind::Moved
            | ForgeErrorKind::Invalid
            | ForgeErrorKind::Stale => false,
        }
    }

    /// What the reader can do next, in one imperative clause.
    #[must_use]
    pub fn hint(&self) -> String {
        match &self.kind {
            ForgeErrorKind::Unauthorised => "check the token".into(),
            ForgeErrorKind::Denied { needed: Some(needed) } => {
                format!("give the job `permissions` with {}", needed.replace('=', ": "))
            }
            ForgeErrorKind::Denied { needed: None } => {
                "look at `permissions` of the job; pull requests of forks get a token that only reads".into()
            }
            ForgeErrorKind::CreationForbidden => {
                "turn on `Allow GitHub Actions to create and approve pull requests`, or open it by the link".into()
            }
            ForgeErrorKind::NotFound => {
                "check the name, and whether the token may see it".into()
            }
            ForgeErrorKind::Moved => "use the present name of the repository".into(),
            ForgeErrorKind::Invalid => "report this request, the forge refuses it".into(),
            ForgeErrorKind::RateLimited { .. } => "run again after the limit".into(),
            ForgeErrorKind::Unavailable => "run again later, and look at the service's status page".into(),
            ForgeErrorKind::TooLate => "raise the time limit of the run".into(),
            ForgeErrorKind::Stale => "start again from the present head".into(),
            ForgeErrorKind::Malformed => {
                "look for a proxy that answers in the forge's place".into()
            }
        }
    }
}

impl std::error::Error for ForgeError {}

impl fmt::Display for ForgeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {}: ", self.call)?;
        match &self.kind {
            ForgeErrorKind::Unauthorised => f.write_str("the token was refused")?,
            ForgeErrorKind::Denied { .. } => f.write_str("the token may not do this")?,
            ForgeErrorKind::CreationForbidden => {
                f.write_str("workflows may not open pull requests here")?;
            }
            ForgeErrorKind::NotFound => f.write_str("it is not there or not visible")?,
            ForgeErrorKind::Moved => f.write_str("the repository has another name")?,
            ForgeErrorKind::Invalid => f.write_str("the request was refused")?,
            ForgeErrorKind::RateLimited { wait: Some(wait) } => {
                write!(f, "rate limited for {} s", wait.as_secs())?;
            }
            ForgeErrorKind::RateLimited { wait: None } => f.write_str("rate limited")?,
            ForgeErrorKind::Unavailable => f.write_str("the service does not answer properly")?,
            ForgeErrorKind::TooLate => f.write_str("no time is left")?,
            ForgeErrorKind::Stale => f.write_str("the branch moved")?,
            ForgeErrorKind::Malformed => f.write_str("the answer is not understood")?,
        }
        if let Some(status) = self.status {
            write!(f, " ({status})")?;
        }
        if !self.said.is_empty() {
            write!(f, ": {}", self.said)?;
        }
        Ok(())
    }
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
            said: "Resource not accessible by integration".into(),
        };
        assert_eq!(
            format!("{error}\n{}", error.hint()),
            "cannot create the check run: the token may not do this (403): \
             Resource not accessible by integration\n\
             give the job `permissions` with checks: write"
        );
    }
}
