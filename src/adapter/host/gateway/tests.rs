//! Tests of the proxy with a server on loopback that repeats what it got.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use serde_json::{Value, json};

use super::*;
use crate::domain::budget::Price;

/// A protocol without a world.
pub struct Plain;

impl Dialect for Plain {
    fn model<'a>(&self, _: &'a str, question: &'a Value) -> &'a str {
        question["model"].as_str().unwrap_or_default()
    }

    fn cap(&self, question: &Value) -> Option<u32> {
        question["cap"].as_u64().map(|cap| cap.try_into().unwrap())
    }

    fn set_cap(&self, question: &mut Value, cap: u32) {
        question["cap"] = cap.into();
    }

    fn set_one_answer(&self, question: &mut Value) {
        if let Some(count) = question.get_mut("n") {
            *count = 1.into();
        }
    }

    fn beyond_its_text(&self, question: &Value) -> Option<String> {
        Some(question.get("beyond")?.as_str()?.to_owned())
    }

    fn pictures(&self, _: &Value) -> usize {
        0
    }

    fn cache_share(&self, _: &Value) -> Option<u64> {
        None
    }

    fn ask_for_usage(&self, question: &mut Value) -> bool {
        let is_stream = question["stream"] == true;
        if is_stream {
            question["stream_options"] = true.into();
        }
        is_stream
    }

    fn usage(&self, answer: &Value) -> Usage {
        let at = |name: &str| answer.get(name).and_then(Value::as_u64).unwrap_or_default();
        Usage { cached_tokens: at("cached"), ..Usage::new(at("in"), at("out")) }
    }

    fn written(&self, answer: &Value) -> usize {
        answer.get("text").and_then(Value::as_str).map_or(0, str::len)
    }

    fn refusal(&self, answer: &Value) -> Option<String> {
        Some(answer.get("refused")?.as_str()?.to_owned())
    }

    fn over_budget(&self, message: &str) -> Value {
        json!({ "no-money": message })
    }
}

const KEY: &str = "the-real-key-0123456789";

/// A server that answers each request as this function says. Returns its port.
async fn serve<F>(answer: fn(Request<Incoming>) -> F) -> u16
where
    F: Future<Output = Response<String>> + Send + 'static,
{
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(async move {
                let service =
                    service_fn(
                        move |request| async move { Ok::<_, Infallible>(answer(request).await) },
                    );
                let server = hyper::server::conn::http1::Builder::new();
                drop(server.serve_connection(TokioIo::new(stream), service).await);
            });
        }
    });
    port
}

/// A server that answers each request with its head, and with the status that the header `x-status`
/// names. Returns its port.
async fn echo() -> u16 {
    serve(|request| async move {
        let status = request.headers().get("x-status");
        let status = status.map_or(200, |value| value.to_str().unwrap().parse().unwrap());
        let mut text = format!("{} {}\n", request.method(), request.uri());
        for (name, value) in request.headers() {
            text += &format!("{name}: {}\n", value.to_str().unwrap());
        }
        let mut response = Response::new(text);
        *response.status_mut() = StatusCode::from_u16(status).unwrap();
        response.headers_mut().insert("retry-after", HeaderValue::from_static("7"));
        response.headers_mut().insert("x-own", HeaderValue::from_static("kept"));
        response
    })
    .await
}

async fn gateway(base_url: String, key: Option<&str>) -> Gateway {
    let http = Http::new().unwrap();
    let key = key.map(SecretKey::new);
    let upstream = Upstream { http, base_url, key, ..upstream() };
    Gateway::start(upstream).await.unwrap()
}

/// A provider without a key.
fn upstream() -> Upstream {
    Upstream {
        http: Http::new().unwrap(),
        base_url: String::new(),
        key: None,
        headers: Vec::new(),
        dialect: |_| &Plain,
        prices: Prices {
            model: "m".into(),
            price: Some(Price { input: 1.0, output: 10.0, ..Price::default() }),
            of_request: |asked, configured, price| {
                let output = if asked == configured { price.output } else { 100.0 };
                Price { output, ..price.clone() }
            },
        },
        left: SpendingLimits::default(),
        tunnels: &[".more.test"],
    }
}

/// Sends the lines of a request and returns the response.
async fn send(gateway: &Gateway, lines: &[&str]) -> String {
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, gateway.port())).await.unwrap();
    send_on(stream, lines).await
}

async fn send_on(mut stream: TcpStream, lines: &[&str]) -> String {
    let request = format!("{}\r\nhost: x\r\nconnection: close\r\n\r\n", lines.join("\r\n"));
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    text
}

#[tokio::test]
async fn the_key_takes_the_place_of_the_placeholder() {
    let port = echo().await;
    let gateway = gateway(format!("http://127.0.0.1:{port}/v1/"), Some(KEY)).await;
    assert_eq!(gateway.base_url(), format!("http://127.0.0.1:{}/v1", gateway.port()));
    let bearer = format!("Authorization: Bearer {}", gateway.placeholder());
    let got =
        send(&gateway, &["GET /v1/models/m?c=d&key=theirs HTTP/1.1", &bearer, "x-more: m"]).await;
    assert!(got.starts_with("HTTP/1.1 200 ") && got.contains("x-own: kept"), "{got}");
    assert!(got.contains("GET /v1/models/m?c=d\n"), "{got}");
    assert!(got.contains(&format!("authorization: Bearer {KEY}\n")), "{got}");
    assert!(got.contains("x-more: m\n") && !got.contains(gateway.placeholder()), "{got}");
    // A key of somebody else beside it goes nowhere.
    let mine = format!("x-goog-api-key: {}", gateway.placeholder());
    let got = send(&gateway, &["POST /v1/responses HTTP/1.1", &mine, "x-api-key: theirs"]).await;
    assert!(got.contains(&format!("x-goog-api-key: {KEY}\n")), "{got}");
    assert!(!got.contains("theirs"), "{got}");
    // Providers repeat parts of requests in their errors.
    let echo = format!("content-type: text/{}", gateway.placeholder());
    let got = send(&gateway, &["POST /v1/responses HTTP/1.1", &bearer, &echo]).await;
    assert_eq!(got.matches(KEY).count(), 1, "{got}");
    let odd = format!("authorization: Basic {}", gateway.placeholder());
    let got = send(&gateway, &["POST /v1/responses HTTP/1.1", &odd]).await;
    assert!(got.starts_with("HTTP/1.1 401 "), "{got}");
}

#[tokio::test]
async fn without_a_key_none_is_sent() {
    let port = echo().await;
    let gateway = gateway(format!("http://127.0.0.1:{port}"), None).await;
    let bearer = format!("authorization: Bearer {}", gateway.placeholder());
    let got = send(&gateway, &["GET /models HTTP/1.1", &bearer]).await;
    assert!(got.contains("GET /models\n") && !got.contains("authorization"), "{got}");
}

#[tokio::test]
async fn nothing_but_the_provider_is_reached_and_only_with_the_placeholder() {
    let port = echo().await;
    let base = format!("http://127.0.0.1:{port}/v1");
    let gateway = gateway(base, Some(KEY)).await;
    let key = format!("x-api-key: {}", gateway.placeholder());
    let other = format!("GET http://127.0.0.1:{port}/v1/x HTTP/1.1");
    let absolute = format!("GET {}/models HTTP/1.1", gateway.base_url());
    let table = [
        (vec![absolute.as_str(), &key], 200),
        (vec!["GET /v1 HTTP/1.1", &key], 200),
        (vec!["GET /v1/models HTTP/1.1"], 401),
        (vec!["GET /v1/models HTTP/1.1", "x-api-key: theirs"], 401),
        (vec!["POST /v1/messages/count_tokens HTTP/1.1", &key], 200),
        (
            vec!["POST /v1/v1beta/models/gemini-3.8:streamGenerateContent?alt=sse HTTP/1.1", &key],
            200,
        ),
        (vec!["GET /v1/files HTTP/1.1", &key], 403),
        (vec!["POST /v1/batches HTTP/1.1", &key], 403),
        (vec!["DELETE /v1/models/m HTTP/1.1", &key], 403),
        (vec!["TRACE /v1/models HTTP/1.1", &key], 403),
        (vec!["GET /v1/models/..%2f..%2fother HTTP/1.1", &key], 403),
        (vec!["GET /v2/x HTTP/1.1", &key], 403),
        (vec!["GET /v1x HTTP/1.1", &key], 403),
        (vec!["GET /v1/../v2 HTTP/1.1", &key], 403),
        (vec!["GET /v1/%2e%2e/v2 HTTP/1.1", &key], 403),
        (vec![other.as_str(), &key], 403),
        (vec!["GET http://evil.example/v1/x HTTP/1.1", &key], 403),
        (vec!["CONNECT Evil.example:443 HTTP/1.1"], 403),
        (vec!["CONNECT eu.more.test:80 HTTP/1.1"], 403),
        (vec!["nonsense"], 400),
    ];
    for (lines, status) in table {
        let got = send(&gateway, &lines).await;
        assert!(got.starts_with(&format!("HTTP/1.1 {status} ")), "{lines:?}: {got}");
        assert!(status == 200 || !got.contains(KEY), "{lines:?}: {got}");
    }
    let provider = format!("127.0.0.1:{port}");
    let mut refused =
        [provider.as_str(), "eu.more.test:80", "evil.example", "evil.example:443"].to_vec();
    refused.sort_unstable();
    assert_eq!(gateway.refused(), refused);
}

/// Clients that use a proxy for every host ask it for a connection to itself.
#[tokio::test]
async fn a_connection_to_the_proxy_through_the_proxy_is_one_more() {
    let port = echo().await;
    let gateway = gateway(format!("http://127.0.0.1:{port}"), Some(KEY)).await;
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, gateway.port())).await.unwrap();
    let request = format!("CONNECT 127.0.0.1:{} HTTP/1.1\r\nhost: x\r\n\r\n", gateway.port());
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    assert!(head.starts_with(b"HTTP/1.1 200 "));
    let key = format!("x-api-key: {}", gateway.placeholder());
    let got = send_on(stream, &["POST /responses HTTP/1.1", &key]).await;
    assert!(got.contains(&format!("x-api-key: {KEY}\n")), "{got}");
}

#[tokio::test]
async fn connections_are_not_nested() {
    let gateway = gateway("http://127.0.0.1:9".into(), None).await;
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, gateway.port())).await.unwrap();
    let request = format!("CONNECT 127.0.0.1:{} HTTP/1.1\r\nhost: x\r\n\r\n", gateway.port());
    for expected in ["HTTP/1.1 200 ", "HTTP/1.1 403 "] {
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        assert!(head.starts_with(expected.as_bytes()), "{expected}");
    }
}

#[test]
fn the_question_that_began_last_decides() {
    let failure = || Some(Failure::Transport(HttpError::TimedOut));
    let mut questions = Questions::default();
    let (first, second) = (questions.begin(), questions.begin());
    questions.end(second, None);
    questions.end(first, failure());
    assert_eq!(questions.failure, None);
    let third = questions.begin();
    questions.end(third, failure());
    assert_eq!(questions.failure, failure());
}

#[tokio::test]
async fn the_failure_of_the_latest_question_is_known() {
    let port = echo().await;
    let gateway = gateway(format!("http://127.0.0.1:{port}"), Some(KEY)).await;
    let key = format!("x-api-key: {}", gateway.placeholder());
    // Neither a list of models nor a count of tokens is a question.
    for other in ["GET /models HTTP/1.1", "POST /v1/messages/count_tokens HTTP/1.1"] {
        let got = send(&gateway, &[other, &key, "x-status: 503"]).await;
        assert!(got.starts_with("HTTP/1.1 503 "), "{got}");
        assert_eq!(gateway.failure(), None);
    }
    for (status, invites) in [(429, true), (400, false), (529, true)] {
        let got =
            send(&gateway, &["POST /responses HTTP/1.1", &key, &format!("x-status: {status}")])
                .await;
        assert!(got.starts_with(&format!("HTTP/1.1 {status} ")), "{got}");
        assert!(got.contains("retry-after: 7") && got.contains("POST /responses"), "{got}");
        let failure = gateway.failure().unwrap();
        assert_eq!(failure.invites_retries(), invites);
        let Failure::Status(received) = failure else { panic!("{failure:?}") };
        assert_eq!((received.status, received.header("retry-after")), (status, Some("7")));
    }
    send(&gateway, &["POST /responses HTTP/1.1", &key]).await;
    assert_eq!(gateway.failure(), None, "an answer ends it");
}

#[tokio::test]
async fn a_provider_that_is_away_is_an_error_with_words() {
    let closed = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let base = format!("http://{}", closed.local_addr().unwrap());
    drop(closed);
    let gateway = gateway(base, Some(KEY)).await;
    let key = format!("x-api-key: {}", gateway.placeholder());
    let got = send(&gateway, &["POST /responses HTTP/1.1", &key]).await;
    assert!(got.starts_with("HTTP/1.1 502 ") && got.contains("no connection"), "{got}");
    assert!(matches!(gateway.failure(), Some(Failure::Transport(_))));
    for base in ["nonsense", "file:///etc/passwd"] {
        let upstream = Upstream { base_url: base.to_owned(), ..upstream() };
        assert!(Gateway::start(upstream).await.is_err(), "{base}");
    }
}

#[tokio::test]
async fn every_request_gets_the_configured_headers() {
    let base_url = format!("http://127.0.0.1:{}", echo().await);
    let headers = |name: &str| vec![(name.to_owned(), "ci".to_owned())];
    let upstream = Upstream { base_url, headers: headers("X-Team"), ..upstream() };
    let gateway = Gateway::start(upstream.clone()).await.unwrap();
    let key = format!("x-api-key: {}", gateway.placeholder());
    let got = send(&gateway, &["GET /models HTTP/1.1", &key, "x-team: theirs"]).await;
    assert!(got.contains("x-team: ci\n") && !got.contains("theirs"), "{got}");
    let wrong = Upstream { headers: headers("x team"), ..upstream };
    let error = Gateway::start(wrong).await.err().unwrap().to_string();
    assert!(error.contains("`x team` is not a header name"), "{error}");
}

#[tokio::test]
async fn a_secret_header_that_a_provider_repeats_is_hidden_from_the_client() {
    let base_url = format!("http://127.0.0.1:{}", echo().await);
    let headers = [("x-gate-token", "gate-0123456789"), ("x-team", "payments-2026")];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let gateway = Gateway::start(Upstream { base_url, headers, ..upstream() }).await.unwrap();
    let key = format!("x-api-key: {}", gateway.placeholder());
    let got = send(&gateway, &["POST /responses HTTP/1.1", &key, "x-status: 400"]).await;
    assert!(got.contains("x-gate-token: [redacted]\n") && got.contains("payments-2026"), "{got}");
}

#[tokio::test]
async fn nothing_begins_once_the_proxy_has_ended() {
    let gateway = gateway("http://127.0.0.1:9".into(), None).await;
    let shared = Arc::clone(&gateway.shared);
    let (sender, mut begun) = tokio::sync::mpsc::unbounded_channel();
    let work = move || {
        let sender = sender.clone();
        async move { sender.send(()).unwrap() }
    };
    shared.spawn(work());
    assert_eq!(begun.recv().await, Some(()));
    drop(gateway);
    // A request that was being answered may still ask for a tunnel.
    shared.spawn(work());
    drop(work);
    assert_eq!(begun.recv().await, None);
}

/// A server that answers each question with the tokens that its header `x-answer` names, and with the
/// question. It knows no `stream_options`. Returns its port.
async fn model() -> u16 {
    serve(|request| async move {
        let answer = request.headers()["x-answer"].to_str().unwrap().to_owned();
        let body = questions::whole(request.into_body()).await.unwrap();
        let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
        if asked.get("stream_options").is_some() {
            let error = "{\"error\": {\"message\": \"what is stream_options?\"}}";
            return Response::builder().status(400).body(error.to_owned()).unwrap();
        }
        let mut answer: Value = serde_json::from_str(&answer).unwrap();
        answer["asked"] = asked;
        Response::new(answer.to_string())
    })
    .await
}

/// Asks the server of [`model`] and returns status and body of the response.
async fn ask(gateway: &Gateway, question: &Value, answer: &Value) -> (u16, Value) {
    ask_at(gateway, "/responses", question, answer).await
}

/// The same at a path.
async fn ask_at(gateway: &Gateway, path: &str, question: &Value, answer: &Value) -> (u16, Value) {
    let (key, question) = (gateway.placeholder(), question.to_string());
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, gateway.port())).await.unwrap();
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nx-api-key: {key}\r\nx-answer: {answer}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{question}",
        question.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap();
    (status.parse().unwrap(), serde_json::from_str(body).unwrap())
}

async fn limited(micro_usd: u64) -> Gateway {
    let base_url = format!("http://127.0.0.1:{}", model().await);
    let left = SpendingLimits { micro_usd: Some(micro_usd), ..SpendingLimits::default() };
    Gateway::start(Upstream { base_url, left, ..upstream() }).await.unwrap()
}

#[tokio::test]
async fn the_last_question_that_the_budget_pays_for_gets_a_shorter_answer() {
    let gateway = limited(70_000).await;
    let question = json!({ "model": "m", "cap": 4_000 });
    let answer = json!({ "in": 1_000, "out": 4_000 });
    let several = json!({ "model": "m", "cap": 4_000, "n": 8 });
    let (status, body) = ask(&gateway, &several, &answer).await;
    let one = json!({ "model": "m", "cap": 4_000, "n": 1 });
    assert_eq!((status, &body["asked"]), (200, &one), "all of it is paid for, once");
    // 29,000 are left, of which the prompt is nine.
    let (status, body) = ask(&gateway, &question, &json!({ "in": 1_000, "out": 1_900 })).await;
    assert_eq!((status, &body["asked"]), (200, &json!({ "model": "m", "cap": 2_899 })));
    assert_eq!(gateway.excess(), None);
    // 9,000 pay for no answer that is worth it.
    let (status, body) = ask(&gateway, &question, &answer).await;
    let words = body["no-money"].as_str().unwrap();
    assert!(status == 402 && words.starts_with("regreen: ") && words.contains("$0.07"), "{words}");
    assert_eq!(gateway.excess().map(|why| format!("regreen: {why}")), Some(words.to_owned()));
    assert_eq!(gateway.usage(), Usage { cost: 61_000, ..Usage::new(2_000, 5_900) });
    assert_eq!(gateway.failure(), None, "the provider did not refuse anything");
}

#[tokio::test]
async fn a_question_to_a_dearer_model_costs_more() {
    let gateway = limited(1_000_000).await;
    let answer = json!({ "in": 1_000, "out": 1_000 });
    for (asked, cost) in [("m", 11_000), ("other", 112_000)] {
        ask(&gateway, &json!({ "model": asked, "cap": 1_000 }), &answer).await;
        assert_eq!(gateway.usage().cost, cost, "{asked}");
    }
    let (_, body) = ask(&gateway, &json!({ "model": "other", "cap": 64_000 }), &answer).await;
    assert_eq!(body["asked"]["cap"], 8_879);
}

#[tokio::test]
async fn a_question_that_cannot_be_read_or_wants_more_than_an_answer_is_not_sent() {
    let base_url = format!("http://127.0.0.1:{}", model().await);
    let gateway = Gateway::start(Upstream { base_url, ..upstream() }).await.unwrap();
    let answer = json!({ "in": 1, "out": 1 });
    let table = [
        (json!({ "model": "m" }), 200, ""),
        (json!(["no question"]), 400, "plain JSON"),
        (json!({ "model": "m", "beyond": "web_search" }), 400, "`web_search`"),
    ];
    for path in ["/responses", "/messages/count_tokens"] {
        for (question, expected, words) in &table {
            let (status, body) = ask_at(&gateway, path, question, &answer).await;
            assert_eq!(status, *expected, "{path} {question}: {body}");
            assert!(body.to_string().contains(words), "{path} {question}: {body}");
        }
    }
    assert_eq!(gateway.usage().tokens(), 2, "one question was sent");
}

#[tokio::test]
async fn a_server_that_does_not_know_the_request_for_usage_is_asked_without_it() {
    let gateway = limited(1_000_000).await;
    let question = json!({ "model": "m", "cap": 1_000, "stream": true });
    let (status, body) = ask(&gateway, &question, &json!({ "text": "abcdef" })).await;
    assert_eq!((status, &body["asked"]), (200, &question));
    let length = question.to_string().len() as u64 / 3;
    let expected = Usage { estimated: true, cost: length + 20, ..Usage::new(length, 2) };
    assert_eq!(gateway.usage(), expected);
}

#[tokio::test]
async fn what_an_interrupted_stream_has_written_is_counted() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let base_url = format!("http://{}", listener.local_addr().unwrap());
    let gateway = Gateway::start(Upstream { base_url, ..upstream() }).await.unwrap();
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
        let events = "data: {\"in\": 40}\n\ndata: {\"text\": \"abcdefghi\"}\n\n";
        stream.write_all(format!("{head}{events}").as_bytes()).await.unwrap();
        stream
    });
    let mut client = TcpStream::connect((Ipv4Addr::LOCALHOST, gateway.port())).await.unwrap();
    let head = format!("POST /responses HTTP/1.1\r\nx-api-key: {}\r\n", gateway.placeholder());
    let question = "content-length: 13\r\n\r\n{\"model\":\"m\"}";
    client.write_all(format!("{head}{question}").as_bytes()).await.unwrap();
    let mut got = Vec::new();
    while !got.windows(9).any(|piece| piece == b"abcdefghi") {
        got.push(client.read_u8().await.unwrap());
    }
    drop(client);
    drop(server.await.unwrap());
    let expected = Usage { estimated: true, cost: 70, ..Usage::new(40, 3) };
    assert_eq!(gateway.usage(), expected);
}
