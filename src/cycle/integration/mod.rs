//! The cycle that writes integration tests: explore, design, develop, iterate with reflection, complete
//! (specification.md 3.2).

mod iterate;
mod machine;
mod prepare;

pub use iterate::drive_iterations;
pub use machine::{adjust_integration, enter_integration, restore_integration};
pub use prepare::{IntegrationInputs, prepare_integration};
