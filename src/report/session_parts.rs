//! Fills each part from the view of a session.

use super::forge_page::ForgePage;
use super::parts::{Body, Part, PartId, Screen};
use super::searched_places::list_searched_places;
use super::view::View;
use super::{explanation, folded_details, overview, scoreboard};

/// The part as one screen shows it.
pub fn part<'a>(id: PartId, view: &'a View, facts: &'a ForgePage<'a>, screen: Screen) -> Part<'a> {
    match id {
        PartId::Heading => overview::heading(view, facts, screen),
        PartId::Verdict => overview::verdict(view, facts, screen),
        PartId::Figures => overview::figures(view),
        PartId::Chart => overview::climb(view, facts, screen),
        PartId::Objections => overview::list_objections(view),
        PartId::Failing => overview::failing(view, facts),
        PartId::Searched => list_searched_places(view),
        PartId::Explanation => explanation::part(view, screen),
        PartId::Change => overview::change(view, facts, screen),
        PartId::Unconfirmed => overview::unconfirmed(view),
        PartId::Next => overview::next(view, facts),
        PartId::Places => overview::places(view),
        PartId::Answers => Part { body: Body::Answers(facts.answers), ..Part::default() },
        PartId::Tests => folded_details::tests(view),
        PartId::Iterations => folded_details::iterations(view, facts, screen),
        PartId::Time => folded_details::time(view, facts),
        PartId::Attempts => folded_details::attempts(view),
        PartId::Proof => folded_details::proof(view),
        PartId::Score => scoreboard::build_scoreboard(view),
        PartId::Todo => folded_details::todo(view, facts),
        PartId::Asked => folded_details::asked(view),
        PartId::Notes => folded_details::notes(view),
        PartId::Used => folded_details::used(view, facts),
    }
}
