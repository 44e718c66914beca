//! When an answer counts, when it is degraded.
