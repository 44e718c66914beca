//! Text to settings, with file, line, column and expectation. Pure.
