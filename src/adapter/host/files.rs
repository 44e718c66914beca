//! Atomic write, bounded read, no links followed.
