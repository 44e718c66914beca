//! What the project's own type checkers, linters and formatters say of a checkout.

use crate::domain::quality::Remark;

/// What a tool is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concern {
    /// Do the types fit, does it build?
    Types,
    /// Are the project's own rules kept?
    Rules,
    /// Which files are not formatted?
    Format,
}

/// What the tools said, and what could not be asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opinions {
    /// Remarks, with what they are about.
    pub remarks: Vec<(Concern, Remark)>,
    /// Tools that were not asked or did not answer, with the reason.
    pub skipped: Vec<(String, String)>,
}
