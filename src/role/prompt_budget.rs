//! Fits the excerpts of a prompt into a budget of tokens. Each kind of excerpt has a share; what one
//! does not need flows to the others. What is cut or left out is listed.

/// One part of the context.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct PromptPart {
    pub title: String,
    pub text: String,
    /// Whether a truncated part is still useful.
    #[serde(skip)]
    pub may_be_cut: bool,
    #[serde(skip)]
    pub section: Section,
}

impl PromptPart {
    /// A part of a prompt whose parts have no shares.
    pub fn new(title: impl Into<String>, text: impl Into<String>, may_be_cut: bool) -> Self {
        Self { title: title.into(), text: text.into(), may_be_cut, section: Section::Other }
    }
}

/// The kinds of excerpts, most important first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Section {
    /// The plan to carry out.
    Plan,
    /// Code under suspicion or to be changed.
    Sources,
    /// The source of failing tests.
    Tests,
    /// What failing tests said.
    Failures,
    /// The change since the base.
    Changes,
    /// Earlier attempts.
    History,
    /// The functions of files that are not shown.
    Outlines,
    /// Excerpts of roles without shares, in the order they are given.
    Other,
}

impl Section {
    const ALL: [Self; 8] = [
        Self::Plan,
        Self::Sources,
        Self::Tests,
        Self::Failures,
        Self::Changes,
        Self::History,
        Self::Outlines,
        Self::Other,
    ];

    /// The share of the room in percent, before unused room is passed on.
    fn share(self) -> usize {
        match self {
            Self::Other => 100,
            Self::Plan => 40,
            Self::Sources => 30,
            Self::Tests => 25,
            Self::Failures | Self::Changes => 15,
            Self::History => 10,
            Self::Outlines => 5,
        }
    }

    /// The position in a prompt: what changes least comes first, as providers cache it.
    fn position(self) -> u8 {
        match self {
            Self::Other => 0,
            Self::Outlines => 1,
            Self::Changes => 2,
            Self::Tests => 3,
            Self::Sources => 4,
            Self::Plan => 5,
            Self::Failures => 6,
            Self::History => 7,
        }
    }

    /// Whether it comes before the question itself.
    fn is_stable(self) -> bool {
        self.position() < Self::Plan.position()
    }
}

/// The parts that fit, by their place in the prompt.
#[derive(Debug, Default)]
pub struct Fitted {
    /// What comes before the question.
    pub stable: Vec<PromptPart>,
    /// What comes after it.
    pub recent: Vec<PromptPart>,
    /// What was cut or left out, in words; empty if nothing was.
    pub left_out: String,
}

/// Minimum number of bytes for which a truncated part is still useful.
const SMALLEST: usize = 400;

/// The line that ends a truncated part.
const CUT: &str = "\n[the rest is left out]";

/// Selects what fits into `room` bytes. Inside of a section, parts are added in order; the first that
/// does not fit is truncated if it is still useful then, and smaller ones after it are tried too.
pub fn fit(parts: &[PromptPart], room: usize, fence: &str) -> Fitted {
    let overhead = |part: &PromptPart| part.title.len() + 2 * fence.len() + 24;
    let clean = |part: &PromptPart| part.text.replace(fence, "[fence]");
    let need = |section: Section| -> usize {
        let own = parts.iter().filter(|part| part.section == section);
        own.map(|part| clean(part).len() + overhead(part)).sum()
    };
    let needs: Vec<usize> = Section::ALL.into_iter().map(need).collect();
    let (mut chosen, mut left_out) = (Vec::new(), Vec::new());
    for (section, mut left) in Section::ALL.into_iter().zip(allot(&needs, room)) {
        let says_something = |part: &&PromptPart| !part.text.trim().is_empty();
        let own = parts.iter().filter(|part| part.section == section).filter(says_something);
        for part in own {
            let (text, overhead) = (clean(part), overhead(part));
            if text.len() + overhead <= left {
                left -= text.len() + overhead;
                chosen.push(PromptPart { text, ..part.clone() });
            } else if part.may_be_cut && left > overhead + SMALLEST {
                let text = format!("{}{CUT}", cut(&text, left - overhead - CUT.len()));
                left = 0;
                left_out.push(format!("the rest of “{}”", part.title));
                chosen.push(PromptPart { text, ..part.clone() });
            } else {
                left_out.push(format!("“{}”", part.title));
            }
        }
    }
    chosen.sort_by_key(|part| part.section.position());
    let (stable, recent) = chosen.into_iter().partition(|part| part.section.is_stable());
    Fitted { stable, recent, left_out: left_out.join(", ") }
}

/// Gives each section what it needs up to its share, and what is left to those below.
fn allot(needs: &[usize], room: usize) -> Vec<usize> {
    let mut free = room;
    let mut given: Vec<usize> = Vec::new();
    for (section, need) in Section::ALL.into_iter().zip(needs) {
        let own = (*need).min(room * section.share() / 100).min(free);
        free -= own;
        given.push(own);
    }
    for (given, need) in given.iter_mut().zip(needs) {
        let more = (need - *given).min(free);
        *given += more;
        free -= more;
    }
    given
}

/// The beginning of a text, at most `bytes` long.
pub fn cut(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(title: &str, bytes: usize, section: Section) -> PromptPart {
        PromptPart { title: title.into(), text: "x".repeat(bytes), may_be_cut: true, section }
    }

    #[test]
    fn a_section_that_is_too_long_does_not_push_out_the_others() {
        let parts = [
            part("sources", 90_000, Section::Sources),
            part("tests", 1_000, Section::Tests),
            part("failures", 1_000, Section::Failures),
            part("history", 900, Section::History),
            part("outlines", 90_000, Section::Outlines),
        ];
        let fitted = fit(&parts, 20_000, "FENCE");
        let titles =
            |list: &[PromptPart]| list.iter().map(|one| one.title.clone()).collect::<Vec<_>>();
        assert_eq!(titles(&fitted.stable), ["outlines", "tests", "sources"]);
        assert_eq!(titles(&fitted.recent), ["failures", "history"]);
        assert_eq!(fitted.left_out, "the rest of “sources”, the rest of “outlines”");
        let sources = &fitted.stable[2].text;
        assert!(sources.len() > 6_000, "unused room is used: {}", sources.len());
        assert!(sources.ends_with("[the rest is left out]"));
    }

    #[test]
    fn unused_shares_flow_down_the_list() {
        let sections = |first: usize, outlines: usize| [0, first, 0, 0, 0, 0, outlines, 0];
        let table = [
            (sections(5_000, 0), sections(5_000, 0)),
            (sections(20_000, 0), sections(10_000, 0)),
            (sections(20_000, 300), sections(9_700, 300)),
            (sections(20_000, 20_000), sections(9_500, 500)),
            (sections(4_000, 20_000), sections(4_000, 6_000)),
        ];
        for (needs, expected) in table {
            assert_eq!(allot(&needs, 10_000), expected, "{needs:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn room_is_never_exceeded_and_never_wasted(needs in proptest::collection::vec(0usize..30_000, 8), room in 0usize..40_000) {
            let given = allot(&needs, room);
            let total: usize = given.iter().sum();
            proptest::prop_assert!(given.iter().zip(&needs).all(|(given, need)| given <= need));
            proptest::prop_assert_eq!(total, room.min(needs.iter().sum()));
        }

        #[test]
        fn a_text_is_cut_between_characters(text in "[aé€]{0,40}", bytes in 0usize..100) {
            let beginning = cut(&text, bytes);
            proptest::prop_assert!(text.starts_with(beginning));
            proptest::prop_assert!(beginning.len() <= bytes);
        }
    }
}
