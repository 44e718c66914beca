//! The false token of this process, which reveals code that looks for tokens (specification.md
//! 4.13).

use std::sync::LazyLock;

use crate::domain::secret::Canary;

use super::random;

static CANARY: LazyLock<Option<Canary>> = LazyLock::new(|| match random::word() {
    Ok(word) => Some(Canary::new(&word)),
    Err(error) => {
        tracing::warn!(%error, "there is no false token without random numbers");
        None
    }
});

/// The canary of this process; `None` where the system has no random numbers.
pub fn canary() -> Option<&'static Canary> {
    CANARY.as_ref()
}
