//! Test ids, skips and assertions in a file.
