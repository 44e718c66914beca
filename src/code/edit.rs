//! Search-and-replace blocks and ranges to new text.
