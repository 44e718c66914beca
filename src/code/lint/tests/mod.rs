//! What rules find: on whole files, and at their borders.

mod borders;
mod samples;
