//! Who depends on whom, and so which tests a change affects.
