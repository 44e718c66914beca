//! Edit operators for literals: numbers, strings, booleans and null.

use tree_sitter::Node;

use super::edit_site::{EditList, EditSite, first};
use super::node_kind::{NodeKind, operator_token};
use NodeKind::{Arithmetic, Compare};

/// Common numbers, with the likelihood that each is the right one.
const COMMON_NUMBERS: &[(i64, f64)] =
    &[(0, 0.9), (1, 0.9), (2, 0.6), (-1, 0.5), (10, 0.3), (100, 0.2)];

/// Weight in an equality: `x == 3` narrows to one value, as overfitting edits often do.
const IN_EQUALITY: f64 = 0.5;

/// Weight of zero in a sum: `x + 0` has no effect.
const ZERO_IN_SUM: f64 = 0.2;

/// How well a value fits the place of the node.
fn fit(node: Node<'_>, value: i64) -> f64 {
    let Some(parent) = node.parent() else { return 1.0 };
    let equality = operator_token(parent)
        .is_some_and(|token| matches!(token.kind(), "==" | "!=" | "===" | "!=="));
    match NodeKind::of(parent) {
        Compare if equality => IN_EQUALITY,
        Arithmetic if value == 0 => ZERO_IN_SUM,
        _ => 1.0,
    }
}

/// Adds and subtracts one.
pub fn neighbours(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    let Ok(value) = site.text.parse::<i64>() else { return };
    for next in [value.checked_add(1), value.checked_sub(1)].into_iter().flatten() {
        edits.replace_with_share(site.node, next.to_string(), fit(site.node, next));
    }
}

/// Replaces a number by common ones.
pub fn common_numbers(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    if site.text.parse::<i64>().is_err() {
        return;
    }
    for (other, likelihood) in COMMON_NUMBERS {
        let share = likelihood * fit(site.node, *other);
        edits.replace_with_share(site.node, other.to_string(), share);
    }
}

/// Replaces an integer by related ones: doubled, halved, negated and similar.
pub fn related_numbers(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    let Ok(value) = site.text.parse::<i64>() else { return };
    let related = [
        value.checked_add(2),
        value.checked_sub(2),
        value.checked_mul(2),
        Some(value / 2),
        value.checked_mul(10),
        value.checked_neg(),
    ];
    for other in related.into_iter().flatten() {
        edits.replace(site.node, other.to_string());
    }
}

/// The codes of the first digit and letters, and those behind the last ones.
const BEGIN_OR_END: [i64; 6] = [48, 58, 65, 91, 97, 123];

/// Replaces a number that the code of a character is compared with.
pub fn character_codes(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    let takes_codes = ["charCodeAt", "codePointAt", "ord("].iter();
    let mut takes_codes = takes_codes.filter(|name| site.source.contains(**name));
    let operator = site.node.parent().and_then(operator_token).map(|token| site.text_of(token));
    let shift = match operator {
        Some("<" | ">=") => 0,
        Some("<=" | ">") => 1,
        _ => return,
    };
    if takes_codes.next().is_some() {
        edits.replace_all(site.node, BEGIN_OR_END.iter().map(|code| (code - shift).to_string()));
    }
}

/// Numbers that a fraction may have been meant to be.
pub fn related_fractions(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    let Some(value) = fraction(site) else { return };
    let related = [
        value + 1.0,
        value - 1.0,
        value * 10.0,
        value / 10.0,
        value * 2.0,
        value / 2.0,
        -value,
        1.0 - value,
    ];
    for other in related {
        edits.replace(site.node, format!("{other:?}"));
    }
}

fn fraction(site: &EditSite<'_>) -> Option<f64> {
    if site.text.parse::<i64>().is_ok() { None } else { site.text.parse().ok() }
}

/// A string literal on one line.
struct StringLiteral<'a> {
    quote: char,
    body: &'a str,
}

impl<'a> StringLiteral<'a> {
    /// Parses a literal without a prefix such as `f` or `r`.
    fn of(text: &'a str) -> Option<Self> {
        let quote = text.chars().last()?;
        let body = text.trim_matches(quote);
        (text.starts_with(quote) && !is_triple_quoted(text)).then_some(Self { quote, body })
    }

    fn with(&self, body: &str) -> String {
        format!("{0}{body}{0}", self.quote)
    }
}

fn is_triple_quoted(text: &str) -> bool {
    text.starts_with("\"\"\"") || text.starts_with("'''")
}

/// Replaces a string by others of the same file.
pub fn strings_of_the_file(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    let is_character = |text: &str| site.spelling.is_typed && text.starts_with('\'');
    if !is_triple_quoted(site.text) {
        let others = first(&site.scope.strings, 12);
        let same = others.filter(|other| is_character(other) == is_character(site.text));
        edits.replace_all(site.node, same);
    }
}

/// Replaces a bracket by the other one of its kind, or by one of another kind on the same side.
pub fn other_brackets(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    const KINDS: [&str; 4] = ["()", "[]", "{}", "<>"];
    let Some(literal) = StringLiteral::of(site.text) else { return };
    let side = |kind: &'static str| Some((kind, kind.find(literal.body)?));
    let of = KINDS.into_iter().filter(|_| literal.body.len() == 1).find_map(side);
    let Some((own, at)) = of else { return };
    let sides = KINDS.into_iter().filter_map(|kind| kind.get(at..=at));
    let other = own.get(1 - at..2 - at);
    edits.replace_all(site.node, sides.chain(other).map(|text| literal.with(text)));
}

/// Replaces a character by the one before or after it, or by the other case.
pub fn related_characters(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    let mut inner = site.text.trim_matches('\'').chars();
    let (Some(one), None) = (inner.next(), inner.next()) else { return };
    let next = char::from_u32(u32::from(one) + 1);
    let before = u32::from(one).checked_sub(1).and_then(char::from_u32);
    let case = [one.to_ascii_lowercase(), one.to_ascii_uppercase()];
    let others = next.into_iter().chain(before).chain(case);
    let others = others.filter(|other| other.is_ascii_graphic() && !"'\\".contains(*other));
    edits.replace_all(site.node, others.map(|other| format!("'{other}'")));
}

/// Replaces a string by common ones.
pub fn common_strings(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    let Some(literal) = StringLiteral::of(site.text) else { return };
    for other in ["", " ", ",", ", ", "\\n", "0"] {
        edits.replace(site.node, literal.with(other));
    }
}

/// Changes the case or the white space of a string.
pub fn respelled_string(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    let Some(literal) = StringLiteral::of(site.text) else { return };
    let body = literal.body;
    for other in [
        &body.to_lowercase(),
        &body.to_uppercase(),
        &format!("{body} "),
        &format!(" {body}"),
        body.trim(),
    ] {
        edits.replace(site.node, literal.with(other));
    }
}

/// Drops one of the first characters of a string.
pub fn shorter_string(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    let Some(literal) = StringLiteral::of(site.text) else { return };
    for (at, character) in literal.body.char_indices().take(8) {
        let (before, after) = literal.body.split_at(at);
        let after = after.strip_prefix(character).unwrap_or(after);
        edits.replace(site.node, literal.with(&format!("{before}{after}")));
    }
}

/// Extends a string used as a set of characters by its other case, or by the letter y.
pub fn longer_string(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    const OTHER_CASE: f64 = 0.8;
    const LETTER_Y: f64 = 0.2;
    let Some(literal) = StringLiteral::of(site.text) else { return };
    let body = literal.body;
    if (3..=30).contains(&body.len()) && body.chars().all(char::is_alphabetic) {
        let both = format!("{body}{}", body.to_uppercase());
        edits.replace_with_share(site.node, literal.with(&both), OTHER_CASE);
        edits.replace_with_share(site.node, literal.with(&format!("{body}y")), LETTER_Y);
    }
}
