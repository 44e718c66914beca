//! Readers on recorded reports and on hostile text, and suites that run in a shell.

mod paths;
mod readers;
mod recorded;
mod runs;
