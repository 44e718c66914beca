//! The account of a client: what its questions used, what those in progress may still use, and which
//! of them the rest of the budget pays for.

use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

use crate::domain::budget::{BYTES_PER_TOKEN, Price, Spending, SpendingLimits, Usage};

use super::lock;

/// The longest answer, in tokens, to a question that names no limit. No known model writes more.
const LONGEST: u32 = 128_000;

/// The limit, in tokens, where the longest answer cannot be paid; every known model accepts it.
const ACCEPTED: u32 = 32_000;

/// The tokens of a picture at most. The largest that any provider counts is `OpenAI`'s: 10,000 patches,
/// times 2.46 for its smallest models.
const LARGEST_PICTURE: u64 = 24_600;

/// What the models of a provider charge.
#[derive(Clone, Debug)]
pub struct Prices {
    /// The configured model; empty when the client decides.
    pub model: String,
    /// Its price; `None` when nothing is known about money.
    pub price: Option<Price>,
    /// The price of a model that a client asks for, by its name and by the configured model and price.
    pub of_request: fn(&str, &str, &Price) -> Price,
}

impl Prices {
    /// The price of a model that a client asks for.
    pub fn of(&self, model: &str) -> Option<Price> {
        self.price.as_ref().map(|price| (self.of_request)(model, &self.model, price))
    }
}

/// A question that is about to be sent.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// Its length.
    pub bytes: usize,
    pub pictures: usize,
    /// The longest answer that it permits, in tokens.
    pub cap: Option<u32>,
    /// What its model charges.
    pub price: Option<Price>,
    /// The part of the prompt that is charged once more for writing it into the provider's cache: one
    /// over this number.
    pub cache_share: Option<u64>,
}

impl Asked {
    /// The tokens of its prompt, estimated.
    fn prompt(&self) -> u64 {
        tokens(self.bytes).saturating_add(self.picture_tokens())
    }

    fn picture_tokens(&self) -> u64 {
        LARGEST_PICTURE.saturating_mul(self.pictures as u64)
    }

    /// What its prompt and an answer may cost at most.
    fn most(&self, usage: Usage) -> Usage {
        let surcharge = self.cache_share.map(|share| usage.input_tokens.div_ceil(share.max(1)));
        Usage {
            // No tokenizer makes more tokens than bytes, but a few bytes may be a large picture.
            longest_input: (self.bytes as u64).saturating_add(self.picture_tokens()),
            cache_surcharge: surcharge.unwrap_or_default(),
            ..usage
        }
    }
}

/// What is decided about a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Admission {
    /// It is sent, with this limit of its answer in tokens or else with its own.
    Sent(Option<u32>),
    /// Once those in progress have ended, more may be left.
    Later,
    Refused,
}

/// The questions of a client.
#[derive(Debug, Default)]
struct Account {
    limits: SpendingLimits,
    questions: Vec<Entry>,
    /// Why a question was refused.
    refusal: Option<String>,
}

/// A question that was sent.
#[derive(Debug)]
struct Entry {
    asked: Asked,
    /// The longest answer that it may get, in tokens.
    reserved: u32,
    /// The tokens that the provider reports.
    reported: Usage,
    /// Bytes of the answer since the provider last reported its length.
    unreported: usize,
    /// Why the model declined to answer.
    refused: Option<String>,
    is_charged: bool,
    is_open: bool,
}

fn tokens(bytes: usize) -> u64 {
    (bytes / BYTES_PER_TOKEN) as u64
}

impl Entry {
    /// What is known to be used so far, and an estimate of what nobody reported.
    fn usage(&self) -> Usage {
        if !self.is_charged {
            return Usage::default();
        }
        let (reported, more) = (self.reported, tokens(self.unreported));
        let is_silent = reported.input_tokens == 0;
        Usage {
            input_tokens: if is_silent { self.asked.prompt() } else { reported.input_tokens },
            output_tokens: reported.output_tokens.saturating_add(more),
            estimated: is_silent || more > 0,
            ..reported
        }
    }

    /// What it may have used at its end.
    fn reservation(&self) -> Usage {
        self.asked.most(Usage::new(self.asked.prompt(), self.reserved.into()))
    }

    fn cost(&self, usage: Usage) -> Option<u64> {
        self.asked.price.as_ref().map(|price| price.of(usage))
    }
}

impl Account {
    /// What was used, and what those in progress reserve.
    fn committed(&self) -> Spending {
        let mut all = Spending::default();
        for entry in &self.questions {
            let used = entry.usage();
            all.add(1, used, entry.cost(used));
            if entry.is_open {
                let reserved = entry.reservation();
                let more = reserved.tokens().saturating_sub(used.tokens());
                let dearer = entry.cost(reserved).zip(entry.cost(used));
                let dearer = dearer.map(|(most, now)| most.saturating_sub(now));
                all.add(0, Usage::new(more, 0), dearer);
            }
        }
        all
    }

    /// Reserves a question's prompt and its answer, which is shortened to what is left.
    fn admit(&mut self, asked: Asked) -> Admission {
        let wanted = asked.cap.unwrap_or(LONGEST);
        let price = |usage| asked.price.as_ref().map(|price| price.of(asked.most(usage)));
        let (spent, prompt) = (self.committed(), asked.prompt());
        let granted = spent.longest_answer(&self.limits, prompt, wanted, &price);
        if granted != Ok(wanted) && self.questions.iter().any(|entry| entry.is_open) {
            return Admission::Later;
        }
        let granted = match granted {
            Ok(granted) => granted,
            Err(why) => {
                self.refusal = Some(why);
                return Admission::Refused;
            }
        };
        let cap = (granted < wanted).then(|| granted.min(asked.cap.unwrap_or(ACCEPTED)));
        self.questions.push(Entry {
            asked,
            reserved: cap.unwrap_or(wanted),
            reported: Usage::default(),
            unreported: 0,
            refused: None,
            is_charged: true,
            is_open: true,
        });
        Admission::Sent(cap)
    }

    /// What all questions used, with what it cost.
    fn usage(&self) -> Usage {
        let (mut sum, mut cost) = (Usage::default(), 0u64);
        for entry in &self.questions {
            let usage = entry.usage();
            sum.join(usage);
            cost = cost.saturating_add(entry.cost(usage).unwrap_or_default());
        }
        Usage { cost, ..sum }
    }

    /// Why the client may ask nothing more: a question was unpaid, or more was used than allowed.
    fn excess(&self) -> Option<String> {
        let (used, limits) = (self.usage(), self.limits);
        let is_over = limits.tokens.is_some_and(|limit| used.tokens() > limit)
            || limits.micro_usd.is_some_and(|limit| used.cost > limit);
        self.refusal.clone().or_else(|| is_over.then(String::new))
    }
}

/// The account of a client whose questions may be asked at the same time.
#[derive(Debug, Default)]
pub struct Ledger {
    account: Mutex<Account>,
    ended: Notify,
}

impl Ledger {
    /// An account with limits, of which that of calls does not concern the questions of a client.
    pub fn new(left: SpendingLimits) -> Self {
        let limits = SpendingLimits { calls: None, ..left };
        let account = Account { limits, ..Account::default() };
        Self { account: Mutex::new(account), ended: Notify::new() }
    }

    pub fn is_limited(&self) -> bool {
        lock(&self.account).limits != SpendingLimits::default()
    }

    /// Enters a question, with the limit of its answer in tokens where it must be lower than its own.
    /// Waits for others where what they leave is needed. The error says why it cannot be paid.
    pub async fn open(self: &Arc<Self>, asked: Asked) -> Result<(Tab, Option<u32>), String> {
        loop {
            let ended = self.ended.notified();
            {
                let mut account = lock(&self.account);
                match account.admit(asked.clone()) {
                    Admission::Sent(cap) => {
                        let number = account.questions.len() - 1;
                        return Ok((Tab { ledger: Arc::clone(self), number }, cap));
                    }
                    Admission::Refused => return Err(account.refusal.clone().unwrap_or_default()),
                    Admission::Later => {}
                }
            }
            ended.await;
        }
    }

    /// What all questions used so far, with what it cost.
    pub fn usage(&self) -> Usage {
        lock(&self.account).usage()
    }

    /// Why the model declined to answer the latest question.
    pub fn refusal(&self) -> Option<String> {
        lock(&self.account).questions.last()?.refused.clone()
    }

    /// Why the client may ask nothing more, which is empty when it used more than was left.
    pub fn excess(&self) -> Option<String> {
        lock(&self.account).excess()
    }
}

/// The entry of a question in progress; dropping it gives back what it did not use.
#[derive(Debug)]
pub struct Tab {
    ledger: Arc<Ledger>,
    number: usize,
}

impl Tab {
    /// Enters what a part of the answer reports, and the bytes that the model wrote in it.
    pub fn count(&self, now: Usage, written: usize) {
        self.change(|entry| {
            let known = entry.reported;
            // Events repeat the counts so far, and not each of them has all.
            entry.reported = Usage {
                input_tokens: known.input_tokens.max(now.input_tokens),
                output_tokens: known.output_tokens.max(now.output_tokens),
                cached_tokens: known.cached_tokens.max(now.cached_tokens),
                cache_surcharge: known.cache_surcharge.max(now.cache_surcharge),
                ..Usage::default()
            };
            entry.unreported = if now.output_tokens > 0 { 0 } else { entry.unreported + written };
        });
    }

    /// Enters why the model declined to answer.
    pub fn refuse(&self, reason: String) {
        self.change(|entry| entry.refused = Some(reason));
    }

    /// Enters an error of the provider, which costs nothing unless it has reported or written.
    pub fn fail(&self) {
        self.change(|entry| {
            entry.is_charged &= entry.reported.tokens() > 0 || entry.unreported > 0;
        });
    }

    fn change(&self, change: impl FnOnce(&mut Entry)) {
        if let Some(entry) = lock(&self.ledger.account).questions.get_mut(self.number) {
            change(entry);
        }
    }
}

impl Drop for Tab {
    fn drop(&mut self) {
        self.change(|entry| entry.is_open = false);
        self.ledger.ended.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A dollar for a million tokens of the prompt, ten for a million of the answer.
    fn price() -> Price {
        Price { input: 1.0, output: 10.0, ..Price::default() }
    }

    fn asked(prompt: usize, cap: impl Into<Option<u32>>) -> Asked {
        let bytes = prompt * BYTES_PER_TOKEN;
        Asked { bytes, pictures: 0, cap: cap.into(), price: Some(price()), cache_share: None }
    }

    fn limits(tokens: impl Into<Option<u64>>, micro_usd: impl Into<Option<u64>>) -> SpendingLimits {
        SpendingLimits { calls: Some(0), tokens: tokens.into(), micro_usd: micro_usd.into() }
    }

    async fn open(ledger: &Arc<Ledger>, asked: Asked) -> Result<Option<u32>, String> {
        ledger.open(asked).await.map(|(_tab, cap)| cap)
    }

    #[tokio::test]
    async fn an_answer_may_be_as_long_as_what_is_left_pays_for() {
        let table = [
            ("no limit", limits(None, None), Some(64_000), Ok(None)),
            ("all of it fits", limits(67_000, 643_000), Some(64_000), Ok(None)),
            ("one token too many", limits(66_999, None), Some(64_000), Ok(Some(63_999))),
            ("less money", limits(None, 53_000), Some(64_000), Ok(Some(5_000))),
            ("the least", limits(4_000, None), Some(64_000), Ok(Some(1_000))),
            ("too little", limits(3_999, None), Some(64_000), Err("3999 tokens")),
            ("a short one", limits(3_100, None), Some(100), Ok(None)),
            ("the prompt alone", limits(None, 3_000), Some(64_000), Err("$0.0030")),
            ("no own limit", limits(131_000, None), None, Ok(None)),
            ("no own limit, and less left", limits(130_999, None), None, Ok(Some(32_000))),
            ("no own limit, and little left", limits(5_000, None), None, Ok(Some(2_000))),
        ];
        for (why, left, cap, expected) in table {
            let ledger = Arc::new(Ledger::new(left));
            let got = open(&ledger, asked(3_000, cap)).await;
            match (&got, expected) {
                (Err(text), Err(words)) => {
                    assert!(text.contains(words), "{why}: {text}");
                    assert_eq!(ledger.excess(), got.err(), "{why}");
                }
                (got, expected) => {
                    assert_eq!(got.as_ref().ok(), expected.as_ref().ok(), "{why}");
                    assert_eq!(ledger.excess(), None, "{why}");
                }
            }
        }
    }

    #[tokio::test]
    async fn what_a_prompt_costs_in_the_cache_is_reserved() {
        let table = [(None, 53_000), (Some(4), 53_750), (Some(1), 56_000)];
        for (cache_share, needed) in table {
            for (left, expected) in [(needed, None), (needed - 10, Some(4_999))] {
                let ledger = Arc::new(Ledger::new(limits(None, left)));
                let asked = Asked { cache_share, ..asked(3_000, 5_000) };
                assert_eq!(open(&ledger, asked).await, Ok(expected), "{cache_share:?} {left}");
            }
        }
    }

    #[tokio::test]
    async fn a_picture_is_reserved_at_its_largest_however_short_it_is() {
        for (left, expected) in [(30_600, Some(5_000)), (30_000, Some(4_400))] {
            let ledger = Arc::new(Ledger::new(limits(left, None)));
            let asked = Asked { pictures: 1, cap: None, ..asked(1_000, 5_000) };
            assert_eq!(open(&ledger, asked).await, Ok(expected), "{left}");
        }
    }

    #[tokio::test]
    async fn a_question_waits_for_what_another_one_has_reserved() {
        let ledger = Arc::new(Ledger::new(limits(10_000, None)));
        let (first, cap) = ledger.open(asked(1_000, 6_000)).await.unwrap();
        assert_eq!(cap, None);
        let mut second = Box::pin(ledger.open(asked(1_000, 6_000)));
        assert!(futures::poll!(second.as_mut()).is_pending());
        first.count(Usage::new(1_000, 500), 0);
        assert!(futures::poll!(second.as_mut()).is_pending(), "the first may go on");
        drop(first);
        let (_second, cap) = second.await.unwrap();
        assert_eq!(cap, None, "what the first did not use is left");
        let mut third = Box::pin(ledger.open(asked(2_000, 6_000)));
        assert!(futures::poll!(third.as_mut()).is_pending(), "only 1,500 tokens are certain");
    }

    #[tokio::test]
    async fn what_nobody_reported_is_estimated() {
        let estimated = |input, output| Usage { estimated: true, ..Usage::new(input, output) };
        // Bytes that were written since the last report, after a report.
        let table = [
            ("nothing arrived", vec![], estimated(100, 0)),
            ("only text", vec![(Usage::default(), 30), (Usage::default(), 60)], estimated(100, 30)),
            (
                "a report at the end",
                vec![(Usage::default(), 90), (Usage::new(80, 40), 0)],
                Usage::new(80, 40),
            ),
            (
                "a report with the text",
                vec![(Usage::new(80, 10), 30), (Usage::new(80, 20), 30)],
                Usage::new(80, 20),
            ),
            (
                "it ended before the last report",
                vec![(Usage::new(80, 1), 0), (Usage::default(), 90)],
                estimated(80, 31),
            ),
            ("no report of the answer", vec![(Usage::new(80, 0), 90)], estimated(80, 30)),
        ];
        for (why, parts, expected) in table {
            let ledger = Arc::new(Ledger::new(limits(None, None)));
            let (tab, _) = ledger.open(Asked { price: None, ..asked(100, 1_000) }).await.unwrap();
            for (usage, written) in parts {
                tab.count(usage, written);
            }
            drop(tab);
            assert_eq!(ledger.usage(), expected, "{why}");
        }
        let ledger = Arc::new(Ledger::new(limits(None, None)));
        let (tab, _) = ledger.open(asked(100, 1_000)).await.unwrap();
        tab.fail();
        assert_eq!(ledger.usage(), Usage::default(), "an error costs nothing");
    }

    #[tokio::test]
    async fn each_question_costs_what_its_model_charges() {
        let ledger = Arc::new(Ledger::new(limits(None, 5_000)));
        let dear = Price { input: 4.0, output: 40.0, ..Price::default() };
        for price in [price(), dear] {
            let (tab, _) =
                ledger.open(Asked { price: Some(price), ..asked(10, 50) }).await.unwrap();
            tab.count(Usage::new(100, 30), 0);
        }
        assert_eq!(ledger.usage(), Usage { cost: 400 + 1_600, ..Usage::new(200, 60) });
        assert_eq!(ledger.excess(), None);
        let (tab, _) = ledger.open(asked(10, 50)).await.unwrap();
        tab.count(Usage::new(100, 1_000), 0);
        assert_eq!(ledger.excess().as_deref(), Some(""), "more than was reserved");
    }
}
