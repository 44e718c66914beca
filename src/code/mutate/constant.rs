//! Edits of constants.

use tree_sitter::Node;

use super::Gather;
use super::table::{Kind, kind, operator};

/// Another number.
pub fn number(node: Node<'_>, gather: &mut Gather<'_>) {
    let text = gather.text(node).to_owned();
    let parent = node.parent();
    // `x == 3` narrows to one value, and `x + 0` says nothing: both are how overfitting looks.
    let equality = parent.is_some_and(|parent| {
        kind(parent) == Kind::Compare
            && operator(parent)
                .is_some_and(|token| matches!(gather.text(token), "==" | "!=" | "===" | "!=="))
    });
    let sum = parent.is_some_and(|parent| kind(parent) == Kind::Arithmetic);
    let fit = |value: i64| match (equality, sum, value) {
        (true, ..) => 0.5,
        (_, true, 0) => 0.2,
        _ => 1.0,
    };
    if let Ok(value) = text.parse::<i64>() {
        let near = [value.checked_add(1), value.checked_sub(1)];
        for (next, factor) in near.into_iter().flatten().zip([1.2, 1.2]) {
            gather.replace("constant", node, next.to_string(), factor * fit(next));
        }
        for (other, factor) in [(0, 0.9), (1, 0.9), (2, 0.6), (-1, 0.5), (10, 0.3), (100, 0.2)] {
            if other != value {
                gather.replace("constant", node, other.to_string(), factor * fit(other));
            }
        }
        for other in [
            value.checked_add(2),
            value.checked_sub(2),
            value.checked_mul(2),
            Some(value / 2),
            value.checked_mul(10),
            value.checked_neg(),
        ]
        .into_iter()
        .flatten()
        {
            gather.replace("constant", node, other.to_string(), 0.3);
        }
    } else if let Ok(value) = text.parse::<f64>() {
        for other in [
            value + 1.0,
            value - 1.0,
            value * 10.0,
            value / 10.0,
            value * 2.0,
            value / 2.0,
            -value,
            1.0 - value,
        ] {
            gather.replace("constant", node, format!("{other:?}"), 0.6);
        }
        let zeros = text.trim_end_matches('0');
        gather.replace("constant", node, format!("{zeros}0"), 0.3);
    }
    for other in gather.scope.numbers.clone().into_iter().take(10) {
        gather.replace("constant", node, other, 0.5);
    }
}

/// Another text.
pub fn text(node: Node<'_>, gather: &mut Gather<'_>) {
    let old = gather.text(node).to_owned();
    let quote = old.chars().last().unwrap_or('"');
    let body: String = old.trim_matches(quote).to_owned();
    if old.starts_with("\"\"\"") || old.starts_with("'''") {
        return;
    }
    for other in gather.scope.strings.clone().into_iter().take(12) {
        gather.replace("string", node, other, 1.0);
    }
    let quoted = |body: &str| format!("{quote}{body}{quote}");
    if old.starts_with(quote) {
        let lower = body.to_lowercase();
        let upper = body.to_uppercase();
        for other in ["", " ", ",", ", ", "\\n", "0"] {
            gather.replace("string", node, quoted(other), 0.8);
        }
        for other in [lower, upper, format!("{body} "), format!(" {body}"), body.trim().to_owned()]
        {
            gather.replace("string", node, quoted(&other), 1.0);
        }
        for index in 0..body.chars().count().min(8) {
            let shorter: String =
                body.chars().enumerate().filter(|(i, _)| *i != index).map(|(_, c)| c).collect();
            gather.replace("string", node, quoted(&shorter), 0.5);
        }
        // A set of characters often lacks one in its other case.
        if body.len() > 2 && body.len() <= 30 && body.chars().all(char::is_alphabetic) {
            gather.replace("string", node, quoted(&format!("{body}{}", body.to_uppercase())), 0.8);
            gather.replace("string", node, quoted(&format!("{body}y")), 0.2);
        }
    }
}

/// The other truth.
pub fn truth(node: Node<'_>, gather: &mut Gather<'_>) {
    let [yes, no] = gather.spelling.truths;
    let other = if gather.text(node) == yes { no } else { yes };
    gather.replace("truth", node, other, 1.0);
    let nothing = gather.spelling.nothing;
    gather.replace("truth", node, nothing, 0.2);
}
