//! What an edit may not do.
