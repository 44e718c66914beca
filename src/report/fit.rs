//! A text of several parts within a limit: what matters least is shortened first.

/// One part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// What it is, for the note about what was shortened.
    pub name: &'static str,
    /// When it is shortened: 0 is never, 1 is first.
    pub turn: u8,
    /// Its forms, the longest first. The last one is what always fits. Each is whole Markdown.
    pub forms: Vec<String>,
}

impl Part {
    /// A part that stays as it is.
    #[must_use]
    pub fn fixed(name: &'static str, text: String) -> Self {
        Self { name, turn: 0, forms: vec![text] }
    }
}

/// A text that fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fitted {
    /// The parts in their order, an empty line between them.
    pub text: String,
    /// Names of what was shortened.
    pub shortened: Vec<&'static str>,
}

/// Puts parts together in at most `limit` bytes: part by part, in their turns, each one step by
/// step down to its last form, until the whole fits. When the last forms of all are too long, the
/// text is too long too; whoever makes the parts keeps those small.
#[must_use]
pub fn fit(parts: &[Part], limit: usize) -> Fitted {
    let mut chosen = vec![0; parts.len()];
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.retain(|index| parts.get(*index).is_some_and(|part| part.turn > 0));
    order.sort_by_key(|index| parts.get(*index).map(|part| part.turn));
    for index in order {
        let forms = parts.get(index).map_or(0, |part| part.forms.len());
        for form in 1..forms {
            if size(parts, &chosen) <= limit {
                break;
            }
            if let Some(chosen) = chosen.get_mut(index) {
                *chosen = form;
            }
        }
    }
    let mut shortened = Vec::new();
    let mut texts = Vec::new();
    for (part, form) in parts.iter().zip(&chosen) {
        if *form > 0 && !shortened.contains(&part.name) {
            shortened.push(part.name);
        }
        texts.extend(part.forms.get(*form).filter(|text| !text.is_empty()));
    }
    let text = texts.iter().map(|text| text.trim_end()).collect::<Vec<_>>().join("\n\n") + "\n";
    Fitted { text, shortened }
}

/// Bytes of the parts in these forms, with what stands between them.
fn size(parts: &[Part], chosen: &[usize]) -> usize {
    let texts = parts.iter().zip(chosen).filter_map(|(part, form)| part.forms.get(*form));
    texts.filter(|text| !text.is_empty()).map(|text| text.trim_end().len() + 2).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(name: &'static str, turn: u8, sizes: &[usize]) -> Part {
        Part { name, turn, forms: sizes.iter().map(|size| name.repeat(*size)).collect() }
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
