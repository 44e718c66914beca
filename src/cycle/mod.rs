//! What happens when: opens a session, drives its loop, closes it. No thresholds, no text for
//! people beyond names of steps.

mod allowance;
mod close;
mod drive;
mod failure;
mod gates;
mod make;
mod mend;
mod open;
mod perform;
mod produce;
mod records;
mod replay;
mod run;
mod test_fix;
mod weigh;

pub use drive::EVENTS;
pub use failure::Failure;
pub use produce::{ProduceSetUp, advanced, produce, production};
pub use replay::{Moved, OUTCOMES, replay};
pub use run::{SetUp, run};
pub use test_fix::{PlanSetUp, Planned, plan};

use close::close;
use drive::{Driven, drive};
use open::open;
use perform::Performer;

/// The loop's state inside the session folder (product.md 8.1).
pub const STATE_FILE: &str = ".process/iteration-state.json";
