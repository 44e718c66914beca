//! Regression, stuck tests, trend, endless loops.
