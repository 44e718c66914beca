//! Use cases: each takes a typed request, opens a session, runs the phases of a cycle and returns a
//! typed outcome. The command line and the bot do the printing.

mod bundle_screen;
mod characterise;
mod clients;
mod code_selection;
mod doctor;
mod error;
mod fix;
mod integration;
mod job;
mod kept_options;
mod memory;
mod page;
mod plan_and_write_tests;
mod providers;
mod replay;
mod report;
mod score;
mod session;
mod settings;
mod status;
mod validate;
mod write_tests;

pub use characterise::{CharacteriseRequest, characterise};
pub use clients::install_clients;
pub use code_selection::CodeSelection;
pub use doctor::{Diagnosis, doctor};
pub use error::{AppError, ErrorClass, exit};
pub use fix::fix;
pub use integration::{IntegrationEnd, write_integration_tests};
pub use job::{
    FixRequest, IntegrationRequest, Job, ModelOptions, RunOptions, TestRequest, ValidateRequest,
};
pub use memory::{ForgetRequest, forget_memory, show_memory, untrusted_memory};
pub use page::check_page;
pub use plan_and_write_tests::{TestOutcome, plan, test};
pub use providers::ProviderState;
pub use replay::replay;
pub use report::{ReportOutcome, ReportRequest, report};
pub use score::{ScoreRequest, score};
pub use session::{
    SessionList, SessionRow, SessionSelection, archive_session, list_sessions, show_session,
};
pub use status::{ResumableSession, status};
pub use validate::{document as report_document, validate};
