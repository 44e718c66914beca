//! List prices of models, to be edited when vendors change them. A `price` in the configuration file
//! wins over this table.

use crate::domain::budget::Price;

/// The list price of a model, in dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ListPrice {
    pub price: Price,
    /// The month of the vendor's list, such as `2026-10`.
    pub month: &'static str,
}

/// Model, input and output price, and month of the list. Sources: the vendors' price pages and
/// models.dev.
const PRICES: &[(&str, f64, f64, &str)] = &[
    ("gemini-3.8-flash", 0.75, 3.75, "2026-10"),
    ("gemini-3.5-flash", 1.50, 9.00, "2026-07"),
    ("gemini-3.1-flash-lite", 0.25, 1.50, "2026-07"),
    ("gemini-3.1-pro-preview", 2.00, 12.00, "2026-07"),
    ("qwen3-coder-plus", 1.00, 5.00, "2026-07"),
    ("qwen3-coder-flash", 0.30, 1.50, "2026-07"),
    ("qwen3.6-plus", 0.50, 3.00, "2026-07"),
    ("qwen3.7-max", 2.50, 7.50, "2026-07"),
    ("gpt-5.4-mini", 0.75, 4.50, "2026-07"),
    ("gpt-5.4", 2.50, 15.00, "2026-07"),
    ("gpt-5.5", 5.00, 30.00, "2026-07"),
    ("claude-haiku-4-5", 1.00, 5.00, "2026-07"),
    ("claude-sonnet-5", 2.00, 10.00, "2026-07"),
    ("claude-opus-4-8", 5.00, 25.00, "2026-07"),
    ("deepseek-v4-flash", 0.14, 0.28, "2026-07"),
];

/// The list price of a model, by its name: `gpt-5.4-mini`, also with a date (`gpt-5.4-mini-2026-03-01`)
/// or the vendor before it (`openai/gpt-5.4-mini`).
#[must_use]
pub fn of(model: &str) -> Option<ListPrice> {
    // Gateways write `claude-haiku-4.5` for `claude-haiku-4-5`.
    let plain = |name: &str| name.to_lowercase().replace('.', "-");
    let model = plain(model.rsplit('/').next().unwrap_or(model));
    let is_same = |name: &str| model.strip_prefix(&plain(name)).is_some_and(is_version);
    let (_, input, output, month) = PRICES.iter().find(|row| is_same(row.0))?;
    Some(ListPrice { price: Price { input: *input, output: *output }, month })
}

/// Whether the rest of a model's name is empty, a date or `-latest`.
fn is_version(rest: &str) -> bool {
    let is_date =
        |text: &str| text.len() >= 4 && text.chars().all(|c| c.is_ascii_digit() || c == '-');
    match rest.strip_prefix(['-', '@']) {
        Some(rest) => rest == "latest" || is_date(rest),
        None => rest.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_belongs_to_a_model_on_any_server() {
        let table = [
            ("gpt-5.4", Some(2.50)),
            ("gpt-5.4-mini", Some(0.75)),
            ("openai/gpt-5.4-mini-2026-03-01", Some(0.75)),
            ("models/gemini-3.8-flash", Some(0.75)),
            ("anthropic/claude-haiku-4.5", Some(1.00)),
            ("claude-haiku-4-5-20251001", Some(1.00)),
            ("claude-haiku-4-5@20251001", Some(1.00)),
            ("claude-sonnet-5-latest", Some(2.00)),
            ("claude-sonnet-5-5", None),
            ("gpt-5.4-nano", None),
            ("gpt-5", None),
            ("qwen3-coder-plus:free", None),
            ("", None),
        ];
        for (model, expected) in table {
            assert_eq!(of(model).map(|list| list.price.input), expected, "{model}");
        }
    }

    #[test]
    fn every_row_is_a_price_with_a_month() {
        for (model, input, output, month) in PRICES {
            assert!(0.0 < *input && input < output, "{model}");
            assert!(month.len() == 7 && month.starts_with("20"), "{model}: {month}");
        }
    }
}
