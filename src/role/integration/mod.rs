//! The roles of the integration cycle: explores a module, designs scenarios for its boundaries,
//! develops tests that cross them, and checks the new files (specification.md 3.2).

mod boundaries;
mod boundary_question;
mod contract;
mod contradicted_code;
mod data_flows;
mod design;
mod design_question;
mod develop;
mod explore;
mod module_choice;
mod test_place;
mod validate;

pub use contradicted_code::drop_failing_documented;
pub use design::design_scenarios;
#[cfg(any(test, feature = "internals"))]
pub use design_question::DesignResponse;
pub use design_question::improve_design;
pub use develop::{DevelopRequest, develop_tests};
pub use explore::{ExploreError, ExploreRequest, explore_module};
pub use module_choice::ModuleError;
pub use validate::check_new_files;
