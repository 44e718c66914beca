//! A text of several sections within a limit: what matters least is shortened first.

/// One section of a text.
pub struct Section<'a> {
    /// Name of the part, for the note about what was shortened.
    pub name: &'static str,
    /// Order of shortening: 1 is first, 0 is never.
    turn: u8,
    /// Number of forms that the part can take.
    forms: usize,
    /// Draws the form with this index; 0 is the longest.
    draw: Box<dyn Fn(usize) -> String + 'a>,
}

impl<'a> Section<'a> {
    /// A section that stays as it is.
    pub fn fixed(name: &'static str, text: String) -> Self {
        Self { name, turn: 0, forms: 1, draw: Box::new(move |_| text.clone()) }
    }

    /// A section that is drawn with the first of these measures, or with a later one where room is
    /// scarce. What the last one gives always fits. Each form is whole Markdown.
    pub fn stepped<M: 'a>(
        name: &'static str,
        turn: u8,
        measures: Vec<M>,
        draw: impl Fn(&M) -> String + 'a,
    ) -> Self {
        let forms = measures.len();
        let draw = move |form: usize| measures.get(form).map_or_else(String::new, &draw);
        Self { name, turn, forms, draw: Box::new(draw) }
    }
}

/// A text that was fitted into a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fitted {
    /// The sections in their order, an empty line between them.
    pub text: String,
    /// Names of the parts that were shortened.
    pub shortened: Vec<&'static str>,
}

/// Puts sections together in at most `limit` bytes: section by section, in their turns, each one step by
/// step down to its last form, until the whole fits. When the last forms of all are too long, the
/// text is too long too; the caller keeps those small.
pub fn fit(parts: &[Section<'_>], limit: usize) -> Fitted {
    let draw = |part: &Section<'_>, form| (part.draw)(form).trim_end().to_owned();
    let mut drawn: Vec<(&Section<'_>, usize, String)> =
        parts.iter().map(|part| (part, 0, draw(part, 0))).collect();
    let mut order: Vec<usize> = (0..drawn.len()).collect();
    order.sort_by_key(|index| drawn.get(*index).map(|(part, ..)| part.turn));
    for index in order {
        loop {
            let long = size(&drawn) > limit;
            let Some((part, form, text)) = drawn.get_mut(index) else { break };
            if !long || part.turn == 0 || *form + 1 >= part.forms {
                break;
            }
            *form += 1;
            *text = draw(part, *form);
        }
    }
    let shortened = drawn.iter().filter(|(_, form, _)| *form > 0).map(|(part, ..)| part.name);
    let texts = drawn.iter().map(|(.., text)| text.as_str()).filter(|text| !text.is_empty());
    Fitted { shortened: shortened.collect(), text: texts.collect::<Vec<_>>().join("\n\n") + "\n" }
}

/// Bytes of the sections in these forms, with what stands between them.
fn size(drawn: &[(&Section<'_>, usize, String)]) -> usize {
    drawn.iter().filter(|(.., text)| !text.is_empty()).map(|(.., text)| text.len() + 2).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(name: &'static str, turn: u8, sizes: &[usize]) -> Section<'static> {
        Section::stepped(name, turn, sizes.to_vec(), |size| name.repeat(*size))
    }

    #[test]
    fn what_matters_least_goes_first() {
        let parts = [part("v", 0, &[10]), part("b", 2, &[20, 10, 0]), part("a", 1, &[20, 10, 5])];
        let table: [(usize, &str, &[&str]); 5] = [
            (56, "vvvvvvvvvv 20b 20a", &[]),
            (55, "vvvvvvvvvv 20b 10a", &["a"]),
            (41, "vvvvvvvvvv 20b 5a", &["a"]),
            (40, "vvvvvvvvvv 10b 5a", &["b", "a"]),
            (0, "vvvvvvvvvv 5a", &["b", "a"]),
        ];
        for (limit, expected, shortened) in table {
            let fitted = fit(&parts, limit);
            let text = expected
                .replace("20b", &"b".repeat(20))
                .replace("10b", &"b".repeat(10))
                .replace("20a", &"a".repeat(20))
                .replace("10a", &"a".repeat(10))
                .replace("5a", "aaaaa")
                .replace(' ', "\n\n");
            assert_eq!(
                (fitted.text.trim_end(), fitted.shortened.as_slice()),
                (text.as_str(), shortened)
            );
        }
    }
}
