//! Counts the tokens that a provider reports for each answer, while the answer passes through the
//! proxy: what is paid for is known even of a client that is ended before it says so.

use std::sync::{Arc, Mutex};

use futures::TryStreamExt;
use hyper::header::CONTENT_TYPE;
use serde_json::Value;

use crate::adapter::host::http::{Body, HttpError, Response, collect};
use crate::domain::budget::Usage;
use crate::effect::ANSWER_LIMIT;

use super::{Shared, lock};

/// Reads the tokens that a body, or one event of a stream, reports for a request with this path.
pub type ReadUsage = fn(&str, &Value) -> Usage;

/// Largest event that is read, in bytes. The last one of a stream may repeat the whole answer.
const EVENT: usize = 8 << 20;

/// The tokens of each answer so far, in the order in which the answers began.
pub type Counts = Arc<Mutex<Vec<Usage>>>;

/// The tokens of all answers together.
pub fn total(counts: &Counts) -> Usage {
    let mut sum = Usage::default();
    let mut longest_input = 0;
    for usage in lock(counts).iter() {
        sum.join(*usage);
        longest_input = longest_input.max(usage.input_tokens);
    }
    Usage { longest_input, ..sum }
}

/// The count of one answer.
struct Meter {
    counts: Counts,
    index: usize,
    path: String,
    read: ReadUsage,
    /// The line of the stream that is not complete yet.
    line: Vec<u8>,
}

impl Meter {
    /// Begins the count of another answer.
    fn begin(counts: &Counts, path: &str, read: ReadUsage) -> Self {
        let mut all = lock(counts);
        all.push(Usage::default());
        let (counts, index) = (Arc::clone(counts), all.len() - 1);
        Self { counts, index, path: path.to_owned(), read, line: Vec::new() }
    }

    /// Counts a whole body.
    fn count(&self, body: &[u8]) {
        let Ok(value) = serde_json::from_slice(body) else { return };
        let now = (self.read)(&self.path, &value);
        if let Some(known) = lock(&self.counts).get_mut(self.index) {
            // Events repeat the counts so far, and not each of them has all.
            *known = Usage {
                input_tokens: known.input_tokens.max(now.input_tokens),
                output_tokens: known.output_tokens.max(now.output_tokens),
                cached_tokens: known.cached_tokens.max(now.cached_tokens),
                ..Usage::default()
            };
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

impl Shared {
    /// An answer to the question at `path`, counted. Only a stream passes before it is complete.
    pub(super) async fn counted(
        &self,
        answer: Response,
        path: &str,
    ) -> Result<hyper::Response<Body>, HttpError> {
        let mut meter = Meter::begin(&self.counts, path, self.usage);
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
}

/// Whether a response is a stream of events.
fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_counted_wherever_the_stream_is_cut() {
        let read: ReadUsage = |path, event| {
            assert_eq!(path, "/messages");
            let at = |name: &str| event.get(name).and_then(Value::as_u64).unwrap_or_default();
            Usage { cached_tokens: at("cached"), ..Usage::new(at("in"), at("out")) }
        };
        let stream = "event: a\ndata: {\"in\": 7, \"out\": 1, \"cached\": 3}\r\n\r\n: ping\ndata:{\"out\": 5}\n\ndata: [DONE]\n\ndata: {\"out\": 9}";
        let expected = Usage { cached_tokens: 3, longest_input: 7, ..Usage::new(7, 5) };
        for size in 1..stream.len() {
            let counts = Counts::default();
            let mut meter = Meter::begin(&counts, "/messages", read);
            stream.as_bytes().chunks(size).for_each(|piece| meter.read_piece(piece));
            assert_eq!(total(&counts), expected, "pieces of {size}");
        }
        let counts = Counts::default();
        for body in ["{\"in\": 5, \"out\": 1}", "{\"in\": 9, \"out\": 1}", "no JSON"] {
            Meter::begin(&counts, "/messages", read).count(body.as_bytes());
        }
        assert_eq!(total(&counts), Usage { longest_input: 9, ..Usage::new(14, 2) });
    }
}
