//! Definitions and their ranges.
