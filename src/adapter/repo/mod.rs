//! Git: private checkouts, commits, differences.
