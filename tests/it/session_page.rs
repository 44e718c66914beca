//! The page of a session, as a program and as a browser read it.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use serde_json::Value;

use super::support::{CALC, REGRESSING, TestRepo};

/// Parts that the page has for every session that met its gate.
const PARTS: [&str; 6] = ["rate", "tests", "iterations", "time", "change", "next"];

/// All sections of the demo's page, in their order: the demo refuses edits and proves its change.
const DEMO_SECTIONS: [&str; 10] = [
    "rate",
    "tests",
    "iterations",
    "time",
    "refused",
    "change",
    "proof",
    "score",
    "next",
    "places",
];

/// The page that `--html` wrote.
fn page(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

#[test]
fn html_of_fix_and_of_report_is_one_page_that_runs_and_loads_nothing() {
    let repo = TestRepo::new(CALC);
    let (file, later) = (repo.around().join("page.html"), repo.around().join("later.html"));
    let bundle = repo.around().join("bundle");
    let ran = repo.regreen(&[
        "fix",
        "--jobs",
        "1",
        "--html",
        &file.display().to_string(),
        "--bundle",
        &bundle.display().to_string(),
    ]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("the page is in"), "{}", ran.err);
    let html = page(&file);
    for part in PARTS {
        assert!(html.contains(&format!("<section id=\"{part}\"")), "{part}");
    }
    for text in [
        " → 100.0 % pass after 2 iterations</h1>",
        "target 95 %",
        "test_<wbr/>high",
        "<ins>high</ins>",
        "Root causes",
        "git merge --squash regreen/WFS-test-main",
    ] {
        assert!(html.contains(text), "{text}: {html}");
    }
    assert!(html.contains("default-src &#39;none&#39;"), "{html}");
    for never in ["<script", "src=", "url(", "@import", "http://", "https://", " on"] {
        let text = html.split('<').filter_map(|tag| tag.split_once('>')).map(|(tag, _)| tag);
        let found: Vec<&str> = text.filter(|tag| format!("<{tag}").contains(never)).collect();
        assert!(found.is_empty(), "{never}: {found:?}");
    }
    assert_eq!(page(&bundle.join("report.html")), html);
    let kept = repo.root().join(".git/regreen/archives/WFS-test-main/.summaries/report.html");
    assert_eq!(page(&kept), html);
    let inside = repo.git(&["ls-tree", "-r", "--name-only", "regreen/WFS-test-main~1"]);
    assert!(!inside.contains("report.html"), "pages do not travel: {inside}");

    let report = repo.regreen(&["report", "WFS-test-main", "--html", &later.display().to_string()]);
    assert_eq!(report.code, Some(0), "{}", report.err);
    let without_time = |html: &str| html.split("<footer").next().map(str::to_owned);
    assert_eq!(without_time(&page(&later)), without_time(&html), "stored events tell the same");
}

#[test]
fn html_of_a_stopped_and_resumed_session_tells_all_of_it() {
    let repo = TestRepo::new(REGRESSING);
    let file = repo.around().join("page.html");
    let name = file.display().to_string();
    let stopped = repo.regreen(&["fix", "--jobs", "1", "--max-iterations", "1", "--html", &name]);
    assert_eq!(stopped.code, Some(1), "{}", stopped.err);
    let html = page(&file);
    assert!(html.contains("<section id=\"failing\"") && html.contains("--resume"), "{html}");
    let ended = repo.regreen(&["fix", "--resume", "--max-iterations", "9", "--html", &name]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let html = page(&file);
    assert!(html.contains("<article id=\"iteration-1\">"), "{html}");
    assert!(html.contains("taken back: fell to"), "{html}");
    assert!(html.contains("A dashed line down shows the rate"), "{html}");
}

#[test]
fn html_at_a_place_that_cannot_be_is_refused_before_any_work() {
    let repo = TestRepo::new(CALC);
    for arguments in [
        ["fix", "--html", "no/such/folder/page.html"],
        ["fix", "--html", "."],
        ["demo", "--html", "no/such/folder/page.html"],
    ] {
        let ran = repo.regreen(&arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}: {}", ran.err);
        assert!(ran.err.contains("--html"), "{}", ran.err);
    }
    assert!(!repo.root().join(".git/regreen").exists(), "nothing was begun");
    let none = repo.regreen(&["report", "WFS-test-main", "--html", "page.html"]);
    assert_eq!(none.code, Some(2), "{}", none.err);
}

/// Serves the page and a script that examines it, and records the requested paths.
fn serve(html: String) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let asked = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&asked);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut request = [0; 4096];
            let length = stream.read(&mut request).unwrap_or(0);
            let request = String::from_utf8_lossy(&request[..length]).into_owned();
            let Some(path) = request.split(' ').nth(1) else { continue };
            kept.lock().unwrap().push(path.to_owned());
            let (status, body) = match path {
                "/" => ("200 OK", include_str!("page/probe.html")),
                "/report.html" => ("200 OK", html.as_str()),
                _ => ("404 Not Found", ""),
            };
            let head = format!(
                "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                body.len()
            );
            // A browser that closed the connection needs no answer.
            drop(
                stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())),
            );
        }
    });
    (address, asked)
}

/// What a browser finds on the page, at both widths, and the messages in its console.
fn look(address: &str, home: &Path, more: &str) -> (Value, String) {
    let output = Command::new("chromium")
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--no-first-run",
        ])
        .args(["--disable-background-networking", "--disable-component-update"])
        .args(["--enable-logging=stderr", "--virtual-time-budget=20000", "--dump-dom", more])
        .arg(format!("--user-data-dir={}", home.display()))
        .arg(address)
        .output()
        .expect("chromium starts");
    let (dom, log) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let seen = dom
        .split_once("<pre id=\"seen\">")
        .and_then(|(_, rest)| rest.split_once("</pre>"))
        .map_or_else(
            || panic!("{dom}\n{log}"),
            |(seen, _)| seen.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"),
        );
    let complaints: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
    (serde_json::from_str(&seen).unwrap(), complaints.join("\n"))
}

#[cfg(feature = "slow-tests")]
#[test]
#[ignore = "needs chromium"]
fn a_browser_shows_the_page_of_the_demo_on_a_phone_and_on_a_desk_by_day_and_by_night() {
    let repo = TestRepo::empty_at("repo");
    let file = repo.around().join("page.html");
    let ran = repo.regreen(&["demo", "--quiet", "--html", &file.display().to_string()]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let (address, asked) = serve(page(&file));
    for (night, scheme) in [(false, "1"), (true, "0")] {
        let flag = format!("--blink-settings=preferredColorScheme={scheme}");
        let home = repo.around().join(format!("browser-{scheme}"));
        let (seen, complaints) = look(&address, &home, &flag);
        assert_eq!(complaints, "");
        let seen = seen.as_array().unwrap();
        assert_eq!(seen.len(), 2);
        for (view, width) in seen.iter().zip([360, 1280]) {
            assert_eq!(view["scrolls"], width, "the page does not scroll sideways: {view}");
            assert_eq!(view["outside"], serde_json::json!([]), "{view}");
            assert_eq!(view["sections"], serde_json::json!(DEMO_SECTIONS), "{view}");
            assert_eq!(view["heading"], "Fixed: 86.4 → 100.0 % pass after 9 iterations", "{view}");
            assert_eq!(view["cells"], 12 * 10, "{view}");
            assert_eq!(view["night"], night, "{view}");
            assert_eq!(view["ground"].as_f64().unwrap() < 64.0, night, "{view}");
            assert!(view["drawn"].as_f64().unwrap() > 200.0, "{view}");
            assert!(view["worst"]["contrast"].as_f64().unwrap() >= 4.5, "{view}");
            assert_eq!(view["loaded"], serde_json::json!([]), "{view}");
        }
    }
    let asked = asked.lock().unwrap();
    assert!(asked.iter().all(|path| path == "/" || path == "/report.html"), "{asked:?}");
    assert_eq!(asked.len(), 6, "a probe and two frames, twice: {asked:?}");
}
