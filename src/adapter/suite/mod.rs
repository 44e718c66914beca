//! The tests of the repository: detect, run, read, try candidates.
