//! Tests of all parsers of untrusted text, and of the published JSON Schemas.

mod readers;
mod schemas;
