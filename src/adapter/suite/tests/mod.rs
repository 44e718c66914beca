//! Tests of report parsers on recorded and hostile input, and of suites that run in a shell.

mod compiled;
mod paths;
mod readers;
mod recorded;
mod runs;
mod warm_node;
mod writers;
