//! Fills each part from the view of a session.

use super::forge_page::ForgePage;
use super::parts::{Body, Part, PartId, Screen};
use super::view::View;
use super::{detail, overview};

/// The part as one screen shows it.
pub fn part<'a>(id: PartId, view: &'a View, facts: &'a ForgePage<'a>, screen: Screen) -> Part<'a> {
    match id {
        PartId::Heading => overview::heading(view, screen),
        PartId::Verdict => overview::verdict(view, facts, screen),
        PartId::Figures => overview::figures(view),
        PartId::Chart => overview::climb(view, facts, screen),
        PartId::Failing => overview::failing(view, facts),
        PartId::Change => overview::change(view, facts, screen),
        PartId::Next => overview::next(view, facts),
        PartId::Places => overview::places(view),
        PartId::Answers => Part { body: Body::Answers(facts.answers), ..Part::default() },
        PartId::Tests => detail::tests(view),
        PartId::Iterations => detail::iterations(view, facts, screen),
        PartId::Time => detail::time(view, facts),
        PartId::Attempts => detail::attempts(view),
        PartId::Proof => detail::proof(view),
        PartId::Todo => detail::todo(view, facts),
        PartId::Asked => detail::asked(view),
        PartId::Notes => detail::notes(view),
        PartId::Used => detail::used(view, facts),
    }
}
