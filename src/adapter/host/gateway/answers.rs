//! Counts the tokens that a provider reports for each answer, while the answer passes through the
//! proxy: what is paid for is known even of a client that is ended before it says so.

use futures::TryStreamExt;
use hyper::header::CONTENT_TYPE;
use serde_json::Value;

use crate::adapter::host::http::{Body, HttpError, Response, collect};
use crate::effect::ANSWER_LIMIT;

use super::account::Tab;
use super::dialect::Dialect;

/// Largest event that is read, in bytes. The last one of a stream may repeat the whole answer.
const EVENT: usize = 8 << 20;

/// The count of one answer.
struct Meter {
    tab: Tab,
    dialect: &'static dyn Dialect,
    /// The line of the stream that is not complete yet.
    line: Vec<u8>,
}

impl Meter {
    /// Counts a whole body. That of Gemini is a list when a stream was asked for and no events.
    fn count(&self, body: &[u8]) {
        match serde_json::from_slice(body) {
            Ok(Value::Array(answers)) => answers.iter().for_each(|answer| self.count_one(answer)),
            Ok(answer) => self.count_one(&answer),
            Err(_) => {}
        }
    }

    fn count_one(&self, answer: &Value) {
        self.tab.count(self.dialect.usage(answer), self.dialect.written(answer));
        if let Some(reason) = self.dialect.refusal(answer) {
            self.tab.refuse(reason);
        }
        if answer.get("error").is_some_and(|error| !error.is_null()) {
            self.tab.fail();
        }
    }

    /// Counts the events that a piece of a stream completes.
    fn read_piece(&mut self, piece: &[u8]) {
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            if self.line.len() + part.len() <= EVENT {
                self.line.extend_from_slice(part);
            }
            if part.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                if let Some(event) = line.strip_prefix(b"data:") {
                    self.count(event);
                }
            }
        }
    }
}

/// An answer that is counted. Only a stream passes before it is complete.
pub async fn counted(
    answer: Response,
    tab: Tab,
    dialect: &'static dyn Dialect,
) -> Result<hyper::Response<Body>, HttpError> {
    let mut meter = Meter { tab, dialect, line: Vec::new() };
    let (status, headers) = (answer.status(), answer.headers().clone());
    let body = if is_stream(&answer) {
        let pieces = answer.bytes_stream().inspect_ok(move |piece| meter.read_piece(piece));
        Body::wrap_stream(pieces)
    } else {
        let received = collect(answer, ANSWER_LIMIT).await?;
        meter.count(&received.body);
        Body::from(received.body)
    };
    let mut counted = hyper::Response::new(body);
    (*counted.status_mut(), *counted.headers_mut()) = (status, headers);
    Ok(counted)
}

fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::account::{Asked, Ledger};
    use super::super::tests::Plain;
    use super::*;
    use crate::domain::budget::{SpendingLimits, Usage};

    async fn meter() -> (Arc<Ledger>, Meter) {
        let ledger = Arc::new(Ledger::new(SpendingLimits::default()));
        let (tab, _) = ledger.open(Asked { bytes: 30, ..Asked::default() }).await.unwrap();
        (ledger, Meter { tab, dialect: &Plain, line: Vec::new() })
    }

    #[tokio::test]
    async fn an_event_is_counted_wherever_the_stream_is_cut() {
        let stream = "event: a\ndata: {\"in\": 7, \"out\": 1, \"cached\": 3}\r\n\r\n: ping\ndata:{\"out\": 5}\n\ndata: [DONE]\n\ndata: {\"out\": 9}";
        for size in 1..stream.len() {
            let (ledger, mut meter) = meter().await;
            stream.as_bytes().chunks(size).for_each(|piece| meter.read_piece(piece));
            let expected = Usage { cached_tokens: 3, ..Usage::new(7, 5) };
            assert_eq!(ledger.usage(), expected, "pieces of {size}");
        }
    }

    #[tokio::test]
    async fn the_model_that_declines_the_latest_question_is_remembered() {
        let (ledger, mut meter) = meter().await;
        meter.read_piece(b"data: {\"refused\": \"safety\"}\n\ndata: {\"out\": 1}\n\n");
        assert_eq!(ledger.refusal().as_deref(), Some("safety"));
        let (_tab, _) = ledger.open(Asked::default()).await.unwrap();
        assert_eq!(ledger.refusal(), None, "another question");
    }

    #[tokio::test]
    async fn a_body_is_counted_as_one_answer_or_as_a_list() {
        let estimated = |input, output| Usage { estimated: true, ..Usage::new(input, output) };
        let table = [
            (r#"{"in": 5, "out": 1}"#, Usage::new(5, 1)),
            (r#"[{"in": 5, "out": 1}, {"in": 5, "out": 4}]"#, Usage::new(5, 4)),
            (r#"[{"text": "abcdef"}, {"text": "ghi"}]"#, estimated(10, 3)),
            (r#"{"error": {"message": "slow down"}}"#, Usage::default()),
            (r#"{"error": null, "in": 5, "out": 1}"#, Usage::new(5, 1)),
            (r#"[{"text": "abc"}, {"error": {"message": "it broke"}}]"#, estimated(10, 1)),
            ("no JSON", estimated(10, 0)),
        ];
        for (body, expected) in table {
            let (ledger, meter) = meter().await;
            meter.count(body.as_bytes());
            assert_eq!(ledger.usage(), expected, "{body}");
        }
    }
}
