//! The work: typed request to typed answer.
