//! Last known status per test; what a subset run may claim.
