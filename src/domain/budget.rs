//! Token usage, prices and spending limits of provider calls (specification.md 2.8).

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Assumed number of bytes per token, a cautious value for source code.
pub const BYTES_PER_TOKEN: usize = 3;

/// The longest time budget.
pub const MAX_MINUTES: u64 = 10_000;

/// A time budget, at most [`MAX_MINUTES`] long.
pub fn minutes(count: u64) -> Duration {
    Duration::from_mins(count.min(MAX_MINUTES))
}

/// A time budget in minutes and parts of one, at most [`MAX_MINUTES`] long.
pub fn fraction_of_minutes(count: f64) -> Duration {
    let longest = minutes(MAX_MINUTES);
    let count = count.min(longest.as_secs_f64() / 60.0);
    Duration::try_from_secs_f64(count * 60.0).unwrap_or_default().min(longest)
}

/// Reads minutes and parts of one as people type them.
///
/// # Errors
///
/// What is no number from a second up to [`MAX_MINUTES`], in words.
pub fn parse_minutes(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| *number <= 10_000.0);
    number.filter(|number| *number * 60.0 >= 1.0).ok_or_else(|| {
        format!("a number of minutes is expected, such as 0.5 or 30, up to {MAX_MINUTES}")
    })
}

/// Token usage of one or more calls, as counted by the provider or else estimated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    pub input_tokens: u64,
    /// Tokens of the answers, including reasoning.
    pub output_tokens: u64,
    /// Input tokens that the provider had in its cache; they are among the input tokens.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_tokens: u64,
    /// Input tokens that are charged on top of `input_tokens`, for writing into the provider's cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(skip)]
    pub cache_surcharge: u64,
    /// Input tokens of the longest request, where `input_tokens` counts several together, as for a
    /// client; 0 where it is one request. Sums over calls have none.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(skip)]
    pub longest_input: u64,
    /// What several requests cost together, each by its own model and length, in millionths of a
    /// dollar; 0 where the price of one model counts. Sums over calls have none.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(skip)]
    pub cost: u64,
    /// Whether some of these tokens are estimated by the length of a text, because nobody reported
    /// them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Usage {
    /// Reported usage without cached tokens.
    pub const fn new(input_tokens: u64, output_tokens: u64) -> Self {
        Self {
            input_tokens,
            output_tokens,
            cached_tokens: 0,
            cache_surcharge: 0,
            longest_input: 0,
            cost: 0,
            estimated: false,
        }
    }

    /// What a question and an answer of so many bytes use, where nobody reports it.
    pub fn estimate(question: usize, answer: usize) -> Self {
        let tokens = |bytes: usize| (bytes / BYTES_PER_TOKEN) as u64;
        Self { estimated: true, ..Self::new(tokens(question), tokens(answer)) }
    }

    pub fn tokens(self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// Adds the tokens of another call. The sum is estimated if a part of it is.
    pub fn join(&mut self, other: Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(other.cached_tokens);
        self.cache_surcharge = self.cache_surcharge.saturating_add(other.cache_surcharge);
        self.estimated |= other.estimated;
    }
}

/// What a provider charges, in dollars per million tokens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Price {
    /// Dollars per million input tokens.
    pub input: f64,
    /// Dollars per million output tokens.
    pub output: f64,
    /// Dollars per million input tokens from the provider's cache; those of `input` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
    /// What longer questions cost, by the list of prices: no setting, but kept in recordings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    pub above: Vec<Tier>,
}

/// What requests cost whose input is longer than a number of tokens, in dollars per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Tier {
    /// The input tokens that a request must exceed.
    pub tokens: u64,
    /// Dollars per million input tokens.
    pub input: f64,
    /// Dollars per million output tokens.
    pub output: f64,
    /// Dollars per million input tokens from the provider's cache; those of `input` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
}

impl Price {
    /// The price of a request in millionths of a dollar, rounded up. All its tokens cost what the
    /// length of its input makes them cost; those of several requests, what the longest makes them,
    /// unless their cost is known.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "dollars per million tokens times tokens is millionths of a dollar; not negative"
    )]
    pub fn of(&self, usage: Usage) -> u64 {
        if usage.cost > 0 {
            return usage.cost;
        }
        let length = match usage.longest_input {
            0 => usage.input_tokens,
            longest => longest,
        };
        let tier = self.above.iter().filter(|tier| length > tier.tokens);
        let (input, output, cached) = tier
            .max_by_key(|tier| tier.tokens)
            .map_or((self.input, self.output, self.cached), |tier| {
                (tier.input, tier.output, tier.cached)
            });
        let from_cache = usage.cached_tokens.min(usage.input_tokens);
        let cost = input.max(0.0) * (usage.input_tokens - from_cache) as f64
            + input.max(0.0) * usage.cache_surcharge as f64
            + cached.unwrap_or(input).max(0.0) * from_cache as f64
            + output.max(0.0) * usage.output_tokens as f64;
        cost.ceil() as u64
    }
}

/// Converts dollars to millionths of a dollar, rounded down.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast saturates, and the amount is not negative"
)]
pub fn micro_usd(dollars: f64) -> u64 {
    (dollars.max(0.0) * 1e6) as u64
}

/// Spending limits of one session; `None` means unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SpendingLimits {
    pub calls: Option<u64>,
    /// Maximum number of tokens, input and output together.
    pub tokens: Option<u64>,
    pub micro_usd: Option<u64>,
}

impl SpendingLimits {
    /// What these limits leave after `spent`.
    #[must_use]
    pub fn left(&self, spent: &Spending) -> Self {
        let left = |limit: Option<u64>, used| limit.map(|limit| limit.saturating_sub(used));
        Self {
            calls: left(self.calls, spent.calls),
            tokens: left(self.tokens, spent.usage.tokens()),
            micro_usd: left(self.micro_usd, spent.micro_usd),
        }
    }

    /// Twice the limit that is used up; both of tokens and money where it may be either of them.
    #[must_use]
    pub fn doubled(&self, spent: &Spending) -> Self {
        let twice = |limit: u64| limit.saturating_mul(2);
        match self.calls {
            Some(limit) if spent.calls >= limit => {
                Self { calls: Some(twice(limit)), ..Self::default() }
            }
            Some(_) | None => Self {
                calls: None,
                tokens: self.tokens.map(twice),
                micro_usd: self.micro_usd.map(twice),
            },
        }
    }

    /// The limits as words of a command line.
    pub fn options(&self) -> Vec<String> {
        let whole = |limit: u64| limit.to_string();
        let option = |name: &str, value: Option<String>| {
            value.map(|value| [format!("--budget-{name}"), value]).into_iter().flatten()
        };
        option("calls", self.calls.map(whole))
            .chain(option("tokens", self.tokens.map(whole)))
            .chain(option("usd", self.micro_usd.map(decimal)))
            .collect()
    }

    /// The lower of each two limits.
    #[must_use]
    pub fn tightest(&self, other: &Self) -> Self {
        let least = |one: Option<u64>, two| one.into_iter().chain(two).min();
        Self {
            calls: least(self.calls, other.calls),
            tokens: least(self.tokens, other.tokens),
            micro_usd: least(self.micro_usd, other.micro_usd),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Spending {
    /// Number of requests, including retries and failed ones.
    pub calls: u64,
    pub usage: Usage,
    /// Cost in millionths of a dollar, as far as prices are known.
    pub micro_usd: u64,
    /// Number of calls that reported tokens but have no price.
    #[serde(default)]
    pub unpriced: u64,
}

impl Spending {
    /// Adds one call of so many requests; without a known price, its tokens only.
    pub fn add(&mut self, requests: u32, usage: Usage, price: Option<u64>) {
        self.calls = self.calls.saturating_add(requests.into());
        self.usage.join(usage);
        if let Some(price) = price {
            self.micro_usd = self.micro_usd.saturating_add(price);
        } else if usage.tokens() > 0 {
            self.unpriced = self.unpriced.saturating_add(1);
        }
    }

    /// Adds the spending of another record to this one.
    pub fn join(&mut self, other: Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.usage.join(other.usage);
        self.micro_usd = self.micro_usd.saturating_add(other.micro_usd);
        self.unpriced = self.unpriced.saturating_add(other.unpriced);
    }

    /// The word before numbers that are estimated in part.
    fn about(&self) -> &'static str {
        if self.usage.estimated { "about " } else { "" }
    }

    /// The longest answer that the limits still pay for, in tokens and at most `wanted`, to a prompt
    /// of `prompt` tokens. `price` is what tokens cost in millionths of a dollar, `None` without a
    /// price. The error says which limit the question would pass.
    pub fn longest_answer(
        &self,
        limits: &SpendingLimits,
        prompt: u64,
        wanted: u32,
        price: &dyn Fn(Usage) -> Option<u64>,
    ) -> Result<u32, String> {
        if let Some(limit) = limits.calls.filter(|limit| self.calls >= *limit) {
            return Err(format!("the budget of {limit} calls is used up"));
        }
        let least = u64::from(wanted.min(LEAST_ANSWER));
        let mut answer = u64::from(wanted);
        if let Some(limit) = limits.tokens {
            let left = limit.saturating_sub(self.usage.tokens()).saturating_sub(prompt);
            answer = answer.min(left);
            if left < least {
                return Err(format!(
                    "the next question and its answer would pass the budget of {limit} tokens ({}{} are used)",
                    self.about(),
                    self.usage.tokens()
                ));
            }
        }
        let cost = |input, output| price(Usage::new(input, output));
        if let (Some(limit), Some(asked), Some(both)) =
            (limits.micro_usd, cost(prompt, 0), cost(prompt, 1_000_000))
        {
            // What an answer costs may depend on the length of the prompt.
            let million = both.saturating_sub(asked);
            let is_free = both == 0;
            let left = limit.checked_sub(self.micro_usd.saturating_add(asked));
            let left = left.or(is_free.then_some(0));
            // Free answers are as long as wanted.
            let tokens = |left: u64| left.saturating_mul(1_000_000).checked_div(million);
            let left = left.map(|left| tokens(left).unwrap_or(answer));
            answer = answer.min(left.unwrap_or_default());
            if left.is_none_or(|left| left < least) {
                return Err(format!(
                    "the next question and its answer would pass the budget of {} ({}{} is used)",
                    dollars(limit),
                    self.about(),
                    dollars(self.micro_usd)
                ));
            }
        }
        Ok(u32::try_from(answer).unwrap_or(wanted))
    }
}

/// Millionths of a dollar as a plain number of dollars.
fn decimal(micro: u64) -> String {
    let text = format!("{}.{:06}", micro / 1_000_000, micro % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The shortest answer worth paying for, in tokens: no analysis and no edit fits into fewer.
pub const LEAST_ANSWER: u32 = 1_000;

/// Formats millionths of a dollar for people, rounded up: `$0.0042`, `$0.1513`, `$1.50`.
pub fn dollars(micro: u64) -> String {
    let (cents, hundredths) = (micro.div_ceil(10_000), micro.div_ceil(100));
    let is_small = micro < 100_000 || micro < 1_000_000 && hundredths % 100 > 0;
    if is_small && micro > 0 {
        format!("${}.{:04}", hundredths / 10_000, hundredths % 10_000)
    } else {
        format!("${}.{:02}", cents / 100, cents % 100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_rounded_up_to_millionths() {
        let price = Price { input: 1.25, output: 10.0, ..Price::default() };
        let table = [((1_000_000, 0), 1_250_000), ((0, 1), 10), ((1, 0), 2), ((0, 0), 0)];
        for ((input, output), expected) in table {
            assert_eq!(price.of(Usage::new(input, output)), expected);
        }
    }

    #[test]
    fn a_price_depends_on_the_length_of_the_input_and_on_the_cache() {
        let tier = |tokens, input| Tier { tokens, input, output: 5.0 * input, cached: None };
        let price = Price {
            input: 1.0,
            output: 5.0,
            cached: Some(0.1),
            above: vec![tier(128_000, 4.0), tier(32_000, 2.0)],
        };
        let table = [
            ("short", (32_000, 0, 0), 32_000),
            ("one more", (32_001, 0, 0), 64_002),
            ("its answer", (32_001, 1_000, 0), 74_002),
            ("long", (200_000, 1_000, 0), 820_000),
            ("half of it cached", (20_000, 0, 10_000), 11_000),
            ("all of it", (20_000, 100, 90_000), 2_500),
            ("no price for the cache", (100_000, 0, 50_000), 200_000),
        ];
        for (why, (input_tokens, output_tokens, cached_tokens), expected) in table {
            let usage = Usage { cached_tokens, ..Usage::new(input_tokens, output_tokens) };
            assert_eq!(price.of(usage), expected, "{why}");
        }
        let written = Usage { cache_surcharge: 250, ..Usage::new(1_000, 0) };
        assert_eq!(price.of(written), 1_250, "a thousand tokens that the cache keeps");
        let several = |longest_input| Usage { longest_input, ..Usage::new(200_000, 1_000) };
        assert_eq!(price.of(several(20_000)), 205_000, "ten short ones");
        assert_eq!(price.of(several(40_000)), 410_000, "five longer ones");
        let known = Usage { cost: 300_000, ..several(40_000) };
        assert_eq!(price.of(known), 300_000, "what each of them cost");
        let spent = Spending::default();
        let limits = SpendingLimits { micro_usd: Some(100_000), ..SpendingLimits::default() };
        let longest =
            |prompt| spent.longest_answer(&limits, prompt, 16_000, &|usage| Some(price.of(usage)));
        assert_eq!((longest(32_000), longest(40_000)), (Ok(13_600), Ok(2_000)));
    }

    #[test]
    fn a_sum_is_estimated_if_a_part_of_it_is() {
        let (reported, estimated) =
            (Usage::new(3, 2), Usage { estimated: true, ..Usage::new(4, 1) });
        let mut sum = reported;
        sum.join(reported);
        assert_eq!(sum, Usage::new(6, 4));
        sum.join(estimated);
        sum.join(reported);
        assert_eq!(sum, Usage { estimated: true, ..Usage::new(13, 7) });
        // Files of earlier versions have no such field, and a reported usage still has none.
        let text = r#"{"input_tokens":3,"output_tokens":2}"#;
        assert_eq!(serde_json::from_str::<Usage>(text).unwrap(), reported);
        assert_eq!(serde_json::to_string(&reported).unwrap(), text);
    }

    #[test]
    fn the_limit_that_is_used_up_is_doubled() {
        let limits = SpendingLimits { calls: Some(3), tokens: Some(500), micro_usd: Some(20_000) };
        let money = SpendingLimits { micro_usd: Some(1_500_000), ..SpendingLimits::default() };
        let table = [
            (limits, 3, "--budget-calls 6"),
            (limits, 2, "--budget-tokens 1000 --budget-usd 0.04"),
            (money, 9, "--budget-usd 3"),
            (SpendingLimits::default(), 9, ""),
        ];
        for (limits, calls, expected) in table {
            let spent = Spending { calls, ..Spending::default() };
            assert_eq!(limits.doubled(&spent).options().join(" "), expected);
        }
    }

    #[test]
    fn what_is_left_is_bounded_by_the_tighter_limit() {
        let limits = |tokens, micro_usd| SpendingLimits { tokens, micro_usd, calls: Some(3) };
        let spent = Spending {
            calls: 1,
            usage: Usage::new(900, 100),
            micro_usd: 50,
            ..Spending::default()
        };
        let session = limits(Some(5_000), None).left(&spent);
        let here = limits(Some(500), Some(70)).left(&spent);
        let expected = SpendingLimits { calls: Some(2), tokens: Some(0), micro_usd: Some(20) };
        assert_eq!(session.tightest(&here), expected);
        assert_eq!(here.tightest(&session), expected);
    }

    /// A dollar for a million tokens of the prompt, ten for a million of the answer.
    fn cost(usage: Usage) -> u64 {
        Price { input: 1.0, output: 10.0, ..Price::default() }.of(usage)
    }

    #[test]
    fn an_answer_is_as_long_as_every_limit_still_pays_for() {
        let none = SpendingLimits::default();
        let tokens = |tokens| SpendingLimits { tokens: Some(tokens), ..none };
        let money = |money| SpendingLimits { micro_usd: Some(money), ..none };
        let table = [
            ("no limit", none, Ok(16_000)),
            ("all fits", tokens(20_000), Ok(16_000)),
            ("what is left", tokens(9_000), Ok(5_000)),
            ("the least", tokens(5_000), Ok(1_000)),
            ("too little", tokens(4_999), Err("4999 tokens (1000 are used)")),
            ("money for all", money(163_000), Ok(16_000)),
            ("money for some", money(53_000), Ok(5_000)),
            ("money for the least", money(13_000), Ok(1_000)),
            ("money for the prompt alone", money(3_500), Err("$0.0035")),
            ("no money at all", money(0), Err("$0.00")),
            (
                "the tightest counts",
                SpendingLimits { tokens: Some(9_000), ..money(43_000) },
                Ok(4_000),
            ),
            ("two calls are made", SpendingLimits { calls: Some(2), ..none }, Err("2 calls")),
            ("a third is allowed", SpendingLimits { calls: Some(3), ..none }, Ok(16_000)),
        ];
        let used = Usage::new(900, 100);
        let spent = Spending { calls: 2, usage: used, micro_usd: 0, unpriced: 0 };
        for (why, limits, expected) in table {
            match (
                spent.longest_answer(&limits, 3_000, 16_000, &|usage| Some(cost(usage))),
                expected,
            ) {
                (Err(text), Err(words)) => assert!(text.contains(words), "{why}: {text}"),
                (answer, expected) => assert_eq!(answer.ok(), expected.ok(), "{why}"),
            }
        }
        assert_eq!(
            Spending { micro_usd: 9, ..spent }
                .longest_answer(&money(0), 3_000, 16_000, &|_| Some(0)),
            Ok(16_000),
            "free, though more than the limit is spent"
        );
        assert_eq!(
            spent.longest_answer(&money(0), 3_000, 16_000, &|_| None),
            Ok(16_000),
            "unpriced"
        );
        assert_eq!(
            spent.longest_answer(&tokens(5_000), 3_900, 100, &|usage| Some(cost(usage))),
            Ok(100),
            "a short one"
        );
    }

    proptest::proptest! {
        #[test]
        fn a_permitted_answer_of_full_length_passes_no_limit(
            used in 0u64..50_000, paid in 0u64..500_000, limit in 0u64..100_000,
            money in 0u64..1_000_000, prompt in 0u64..50_000, wanted in 1u32..40_000,
        ) {
            let usage = Usage::new(used, 0);
            let mut spent = Spending { usage, micro_usd: paid, ..Spending::default() };
            let limits = SpendingLimits { calls: None, tokens: Some(limit), micro_usd: Some(money) };
            if let Ok(answer) = spent.longest_answer(&limits, prompt, wanted, &|usage| Some(cost(usage))) {
                proptest::prop_assert!(answer <= wanted && answer >= wanted.min(LEAST_ANSWER));
                let all = Usage::new(prompt, answer.into());
                spent.add(1, all, Some(cost(all)));
                proptest::prop_assert!(spent.usage.tokens() <= limit && spent.micro_usd <= money);
            }
        }
    }

    #[test]
    fn money_is_written_for_people() {
        let table = [
            (0, "$0.00"),
            (1, "$0.0001"),
            (4_200, "$0.0042"),
            (1_500_000, "$1.50"),
            (99, "$0.0001"),
        ];
        for (micro, expected) in table {
            assert_eq!(dollars(micro), expected);
        }
    }
}
