//! List prices of models, to be edited when vendors change them. A `price` in the configuration file
//! wins over this table.

use crate::domain::budget::{Price, Tier, Usage};

/// The list price of a model, in dollars per million tokens.
#[derive(Clone, Debug, PartialEq)]
pub struct ListPrice {
    pub price: Price,
    /// The month of the vendor's list, such as `2026-10`.
    pub month: &'static str,
}

/// What a million tokens of input and output cost, and of input from the cache if that is known.
type Rates = (f64, f64, Option<f64>);

/// A model, its rates, those of longer inputs beyond so many tokens, and the list's month.
type Row = (&'static str, Rates, &'static [(u64, Rates)], &'static str);

/// Sources: the vendors' price pages and models.dev.
const PRICES: &[Row] = &[
    // An introductory price until the end of 2026, then twice as much.
    ("gemini-3.8-flash", (0.75, 3.75, Some(0.075)), &[], "2026-10"),
    ("gemini-3.5-flash", (1.50, 9.00, Some(0.15)), &[], "2026-07"),
    ("gemini-3.1-flash-lite", (0.25, 1.50, Some(0.025)), &[], "2026-07"),
    (
        "gemini-3.1-pro-preview",
        (2.00, 12.00, Some(0.20)),
        &[(200_000, (4.00, 18.00, Some(0.40)))],
        "2026-07",
    ),
    (
        "qwen3-coder-plus",
        (1.00, 5.00, Some(0.20)),
        &[
            (32_000, (1.80, 9.00, Some(0.36))),
            (128_000, (3.00, 15.00, Some(0.60))),
            (256_000, (6.00, 60.00, Some(1.20))),
        ],
        "2026-07",
    ),
    (
        "qwen3-coder-flash",
        (0.30, 1.50, Some(0.06)),
        &[
            (32_000, (0.50, 2.50, Some(0.10))),
            (128_000, (0.80, 4.00, Some(0.16))),
            (256_000, (1.60, 9.60, Some(0.32))),
        ],
        "2026-07",
    ),
    ("qwen3.6-plus", (0.50, 3.00, Some(0.05)), &[(256_000, (2.00, 6.00, Some(0.20)))], "2026-07"),
    ("qwen3.7-max", (2.50, 7.50, Some(0.50)), &[], "2026-07"),
    ("gpt-5.4-mini", (0.75, 4.50, Some(0.075)), &[], "2026-07"),
    ("gpt-5.4", (2.50, 15.00, Some(0.25)), &[], "2026-07"),
    ("gpt-5.5", (5.00, 30.00, Some(0.50)), &[(272_000, (10.00, 45.00, Some(1.00)))], "2026-07"),
    ("claude-haiku-4-5", (1.00, 5.00, Some(0.10)), &[], "2026-07"),
    ("claude-sonnet-5", (2.00, 10.00, Some(0.20)), &[], "2026-07"),
    ("claude-opus-4-8", (5.00, 25.00, Some(0.50)), &[], "2026-07"),
    ("deepseek-v4-flash", (0.14, 0.28, None), &[], "2026-07"),
];

/// The list price of a model, by its name: `gpt-5.4-mini`, also with a date (`gpt-5.4-mini-2026-03-01`)
/// or the vendor before it (`openai/gpt-5.4-mini`).
#[must_use]
pub fn of(model: &str) -> Option<ListPrice> {
    let model = model.rsplit('/').next().unwrap_or(model);
    let row = PRICES.iter().find(|(name, ..)| is_same_model(model, name))?;
    let (_, (input, output, cached), tiers, month) = *row;
    let above = tiers.iter().map(|&(tokens, (input, output, cached))| Tier {
        tokens,
        input,
        output,
        cached,
    });
    Some(ListPrice { price: Price { input, output, cached, above: above.collect() }, month })
}

/// What a request for a model costs at a provider whose configured model has a price. Another model
/// costs what the list says of it, else as much as the dearest of its family in the list. Where the
/// configured model is free, all are: they run on somebody's own machine.
#[must_use]
pub fn of_request(asked: &str, configured: &str, price: &Price) -> Price {
    let is_free = price.of(Usage::new(1_000_000, 1_000_000)) == 0;
    if is_free
        || asked.is_empty()
        || is_same_model(asked, configured)
        || is_same_model(configured, asked)
    {
        return price.clone();
    }
    let family = |name: &str| {
        let name = name.rsplit('/').next().unwrap_or(name);
        name.to_lowercase()
            .split(|c: char| !c.is_ascii_alphabetic())
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    let dearest = || {
        let rows = PRICES.iter().filter(|(name, ..)| family(name) == family(asked));
        let list = rows.filter_map(|(name, ..)| of(name)).map(|list| list.price);
        list.chain([price.clone()]).max_by(|a, b| a.output.total_cmp(&b.output))
    };
    of(asked).map(|list| list.price).or_else(dearest).unwrap_or_else(|| price.clone())
}

/// Whether a name is that of a model, or has its date, as in `claude-haiku-4-5-20251001`.
#[must_use]
pub fn is_same_model(name: &str, model: &str) -> bool {
    // Gateways write `claude-haiku-4.5` for `claude-haiku-4-5`.
    let plain = |name: &str| name.to_lowercase().replace('.', "-");
    plain(name).strip_prefix(&plain(model)).is_some_and(is_version)
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
    fn another_model_than_the_configured_one_has_its_own_price() {
        let price = |input, output| Price { input, output, ..Price::default() };
        let own = price(3.0, 4.0);
        let table = [
            ("the configured one", "claude-haiku-4-5", 4.0),
            ("with its date", "claude-haiku-4-5-20251001", 4.0),
            ("none named", "", 4.0),
            ("a dearer one", "claude-opus-4-8", 25.0),
            ("a cheaper one", "gemini-3.1-flash-lite", 1.5),
            ("an unknown one of the family", "claude-opus-5-5", 25.0),
            ("an unknown one of another family", "models/gpt-7", 30.0),
            ("one that nobody knows", "fake", 4.0),
        ];
        for (why, asked, output) in table {
            let found = of_request(asked, "claude-haiku-4-5", &own).output;
            assert_eq!(Some(found), Some(output), "{why}");
        }
        let dear = of_request("claude-x", "claude-haiku-4-5", &price(1.0, 90.0));
        assert_eq!(dear, price(1.0, 90.0), "the configured one is dearer");
        assert_eq!(of_request("gpt-5.5", "fake", &price(0.0, 0.0)), price(0.0, 0.0), "free");
    }

    #[test]
    fn every_row_is_a_price_with_a_month() {
        for (model, first, longer, month) in PRICES {
            assert!(month.len() == 7 && month.starts_with("20"), "{model}: {month}");
            let all: Vec<(u64, Rates)> = [(0, *first)].into_iter().chain(longer.to_vec()).collect();
            for (_, (input, output, cached)) in &all {
                assert!(0.0 < *input && input < output, "{model}");
                assert!(cached.is_none_or(|cached| 0.0 < cached && cached < *input), "{model}");
            }
            assert!(all.is_sorted_by(|(a, (x, ..)), (b, (y, ..))| a < b && x < y), "{model}");
        }
    }

    #[test]
    fn a_long_question_to_qwen_costs_more() {
        let price = of("qwen3-coder-plus").unwrap().price;
        let table = [((24_000, 2_000), 34_000), ((48_000, 2_000), 104_400)];
        for ((input, output), expected) in table {
            assert_eq!(price.of(crate::domain::budget::Usage::new(input, output)), expected);
        }
    }
}
