//! Where a search looked that found nothing, and what came closest.

use crate::domain::explanation::{ClosestEdit, SearchSummary, SearchedPlace, Spectrum};
use crate::domain::text::count;

use super::markdown::code;
use super::parts::{Item, Part};
use super::view::View;

/// The places, each with its evidence; empty where the last search is not known.
pub fn list_searched_places(view: &View) -> Part<'static> {
    let outcome = view.outcome.as_ref().filter(|_| view.reverted.is_empty());
    let Some(summary) = outcome.and_then(|outcome| outcome.searched.as_ref()) else {
        return Part::default();
    };
    let mut part = Part::list("Where it looked", summary.places.iter(), describe_place);
    part.intro = describe_candidates(summary);
    part.tail = summary.closest.as_ref().map_or_else(String::new, describe_closest);
    part
}

/// What is known of all that were tried.
const NONE_HELPS: &str = "none repairs the test that was tried first and breaks no other";

fn describe_candidates(summary: &SearchSummary) -> String {
    if summary.is_stopped {
        let of = count(summary.of, "edit");
        return format!("The search was stopped when it had tried {} of {of}.\n\n", summary.tried);
    }
    match (summary.tried, summary.of) {
        (0, _) => "The last search tried nothing.\n\n".to_owned(),
        (1, 1) => {
            format!("The last search tried the only edit that it knows there; {NONE_HELPS}.\n\n")
        }
        (tried, of) if tried < of => {
            format!("The last search tried {tried} of {of} edits; {NONE_HELPS}.\n\n")
        }
        (tried, _) => {
            format!("The last search tried {tried} edits; {NONE_HELPS}.\n\n")
        }
    }
}

fn describe_place(place: &SearchedPlace) -> Item {
    let SearchedPlace { file, function, line, spectrum } = place;
    let at = if function == "<module>" {
        "outside of functions".to_owned()
    } else {
        format!("in {}", code(function))
    };
    let evidence = match spectrum {
        Some(Spectrum { failing, failing_of, passing, passing_of }) => format!(
            ": {failing} of {} and {passing} of {} run it",
            count(*failing_of, "failing test"),
            count(*passing_of, "passing test"),
        ),
        None => String::new(),
    };
    let (name, text) = (format!("{file}:{line}"), format!("{at}{evidence}"));
    Item { name, text, ..Item::default() }
}

fn describe_closest(closest: &ClosestEdit) -> String {
    let ClosestEdit { summary, test, suspicion } = closest;
    let (edit, test) = (code(summary), code(test.as_str()));
    match suspicion {
        Some(why) => {
            format!("Closest: {edit}, with which {test} passes; not taken, because {why}.")
        }
        None => format!("Closest: {edit}, with which {test} gets further and still fails."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::event::Outcome;
    use crate::domain::id::RepoPath;

    #[test]
    fn places_have_their_evidence_and_the_closest_edit_is_named() {
        let spectrum = Some(Spectrum { failing: 1, failing_of: 1, passing: 0, passing_of: 2 });
        let place = |function: &str, spectrum| SearchedPlace {
            file: RepoPath::parse("price.go").unwrap(),
            function: function.into(),
            line: 6,
            spectrum,
        };
        let closest = |suspicion: Option<&str>| {
            let (summary, test) = ("price.go:6: `a` → `b`".to_owned(), "p.TestA".into());
            Some(ClosestEdit { summary, test, suspicion: suspicion.map(str::to_owned) })
        };
        let table = [
            (
                SearchSummary {
                    places: vec![place("Discount", spectrum), place("<module>", None)],
                    tried: 1,
                    of: 1,
                    is_stopped: false,
                    closest: closest(None),
                },
                "The last search tried the only edit that it knows there; none repairs the test that was tried first and breaks no other.",
                vec![
                    "in `Discount`: 1 of 1 failing test and 0 of 2 passing tests run it",
                    "outside of functions",
                ],
                "Closest: `` price.go:6: `a` → `b` ``, with which `p.TestA` gets further and still fails.",
            ),
            (
                SearchSummary {
                    tried: 20,
                    of: 50,
                    closest: closest(Some("it is odd")),
                    ..SearchSummary::default()
                },
                "The last search tried 20 of 50 edits; none repairs the test that was tried first and breaks no other.",
                vec![],
                "Closest: `` price.go:6: `a` → `b` ``, with which `p.TestA` passes; not taken, because it is odd.",
            ),
            (SearchSummary::default(), "The last search tried nothing.", vec![], ""),
            (
                SearchSummary { tried: 2, of: 9, is_stopped: true, ..SearchSummary::default() },
                "The search was stopped when it had tried 2 of 9 edits.",
                vec![],
                "",
            ),
        ];
        for (summary, intro, items, tail) in table {
            let outcome = Outcome { searched: Some(summary), ..Outcome::default() };
            let view = View { outcome: Some(outcome), ..View::default() };
            let part = list_searched_places(&view);
            let crate::report::parts::Body::List(listed) = part.body else { panic!("a list") };
            let listed: Vec<&str> = listed.iter().map(|item| item.text.as_str()).collect();
            assert_eq!((part.intro.trim(), listed, part.tail.trim()), (intro, items, tail));
        }
    }
}
