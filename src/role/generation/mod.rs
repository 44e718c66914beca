//! Phases 2 to 4 of a test session: what is there, what must be tested, by which tasks
//! (product.md 3.1, 4.3 to 4.6). No code is written here and no test is judged.

mod coverage;
mod explorer;
mod framework;
mod gather;
mod packages;
mod planner;
mod project;
mod requirements;
mod sentence;
mod survey;

pub use coverage::Ran;
#[cfg(test)]
use gather::Gathered;
pub use gather::{GatherError, Request, gather};
pub use planner::plan;
pub use requirements::analyse;
pub use survey::Survey;

#[cfg(test)]
mod tests;
