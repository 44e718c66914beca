//! Token usage, prices and spending limits of provider calls (specification.md 13.7).

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The longest time budget.
pub const MAX_MINUTES: u64 = 10_000;

/// A time budget, at most [`MAX_MINUTES`] long.
pub fn minutes(count: u64) -> Duration {
    Duration::from_mins(count.min(MAX_MINUTES))
}

/// Token usage of one or more calls, as counted by the provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    pub input_tokens: u64,
    /// Tokens of the answers, including reasoning.
    pub output_tokens: u64,
}

impl Usage {
    pub fn tokens(self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

/// What a provider charges, in dollars per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Price {
    /// Dollars per million input tokens.
    pub input: f64,
    /// Dollars per million output tokens.
    pub output: f64,
}

impl Price {
    /// The price of `usage` in millionths of a dollar, rounded up.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "dollars per million tokens times tokens is millionths of a dollar; not negative"
    )]
    pub fn of(self, usage: Usage) -> u64 {
        let cost = self.input.max(0.0) * usage.input_tokens as f64
            + self.output.max(0.0) * usage.output_tokens as f64;
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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Spending {
    /// Number of calls, including failed ones.
    pub calls: u64,
    pub usage: Usage,
    /// Cost in millionths of a dollar, as far as prices are known.
    pub micro_usd: u64,
    /// Number of calls that reported tokens but have no price.
    #[serde(default)]
    pub unpriced: u64,
}

impl Spending {
    /// Adds one call. A call without a known price counts its tokens only.
    pub fn add(&mut self, usage: Usage, price: Option<u64>) {
        self.calls += 1;
        self.usage.input_tokens = self.usage.input_tokens.saturating_add(usage.input_tokens);
        self.usage.output_tokens = self.usage.output_tokens.saturating_add(usage.output_tokens);
        match price {
            Some(price) => self.micro_usd = self.micro_usd.saturating_add(price),
            None => self.unpriced += u64::from(usage.tokens() > 0),
        }
    }

    /// Adds the spending of another record to this one.
    pub fn join(&mut self, other: Self) {
        self.calls += other.calls;
        self.usage.input_tokens += other.usage.input_tokens;
        self.usage.output_tokens += other.usage.output_tokens;
        self.micro_usd += other.micro_usd;
        self.unpriced += other.unpriced;
    }

    /// Why the next call would exceed a limit; `None` if it may be made. `next` and `price` are the
    /// least that the call will use, so that no limit is exceeded knowingly.
    pub fn exceeds(
        &self,
        limits: &SpendingLimits,
        next: Usage,
        price: Option<u64>,
    ) -> Option<String> {
        if let Some(limit) = limits.calls.filter(|limit| self.calls >= *limit) {
            return Some(format!("the budget of {limit} calls is used up"));
        }
        let tokens = self.usage.tokens().saturating_add(next.tokens());
        if let Some(limit) = limits.tokens.filter(|limit| tokens > *limit) {
            return Some(format!(
                "the next question would pass the budget of {limit} tokens ({} are used)",
                self.usage.tokens()
            ));
        }
        let money = self.micro_usd.saturating_add(price.unwrap_or_default());
        if let Some(limit) = limits.micro_usd.filter(|limit| money > *limit) {
            return Some(format!(
                "the next question would pass the budget of {} ({} is used)",
                dollars(limit),
                dollars(self.micro_usd)
            ));
        }
        None
    }
}

/// Formats millionths of a dollar for people: `$0.0042`, `$1.50`.
pub fn dollars(micro: u64) -> String {
    let (whole, rest) = (micro / 1_000_000, micro % 1_000_000);
    if micro >= 100_000 || micro == 0 {
        format!("${whole}.{:02}", rest / 10_000)
    } else {
        format!("${whole}.{:04}", rest.div_ceil(100))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_rounded_up_to_millionths() {
        let price = Price { input: 1.25, output: 10.0 };
        let table = [((1_000_000, 0), 1_250_000), ((0, 1), 10), ((1, 0), 2), ((0, 0), 0)];
        for ((input_tokens, output_tokens), expected) in table {
            assert_eq!(price.of(Usage { input_tokens, output_tokens }), expected);
        }
    }

    #[test]
    fn the_first_limit_that_is_reached_is_named() {
        let limits =
            SpendingLimits { calls: Some(2), tokens: Some(1000), micro_usd: Some(2_000_000) };
        let mut spent = Spending::default();
        let next = Usage { input_tokens: 600, output_tokens: 0 };
        assert_eq!(spent.exceeds(&limits, next, Some(10)), None);
        spent.add(Usage { input_tokens: 500, output_tokens: 100 }, Some(1_999_999));
        let why = spent.exceeds(&limits, next, None).unwrap();
        assert!(why.contains("1000 tokens (600 are used)"), "{why}");
        let why = spent.exceeds(&limits, Usage::default(), Some(2)).unwrap();
        assert!(why.contains("$2.00 ($1.99 is used)"), "{why}");
        spent.add(Usage::default(), None);
        let why = spent.exceeds(&limits, Usage::default(), None).unwrap();
        assert!(why.contains("2 calls"), "{why}");
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
