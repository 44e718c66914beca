//! The shared context of all steps of one bot job.

use crate::effect::{Clock, Forge};

use super::environment::ActionEnv;
use super::permission::AllowList;
use super::prepare::Prepared;
use super::target::Target;
use super::trigger::Trigger;

/// Everything that the steps of a job need, assembled once by [`super::action`].
pub struct Context<'a> {
    /// Variables, inputs and event file of the runner.
    pub env: &'a ActionEnv,
    /// The event that started the job.
    pub trigger: &'a Trigger,
    /// The commit under test.
    pub target: &'a Target,
    /// The prepared repository, and the configuration that applies.
    pub prepared: &'a Prepared,
    pub forge: &'a dyn Forge,
    /// Who may give commands.
    pub allowed: &'a AllowList,
    /// The clock, which also reports stop signals.
    pub clock: &'a dyn Clock,
}
