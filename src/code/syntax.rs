//! Does it parse, and where not.
