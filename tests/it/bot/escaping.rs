//! Finds Markdown that is active on GitHub, and log lines that a runner obeys. Shares no code with
//! the escaping in regreen.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use serde_json::Value;

/// Foreign text that combines many attacks.
pub const HOSTILE: &str = "@octocat @octo/team fixes #1 GH-2 octo/demo#3 <img src=http://evil.example/i> [go](http://evil.example) ![i](http://evil.example/i) http://evil.example/ www.evil.example </details><script>x</script> ` `` ``` | x |\n# head\n- [ ] box\n::error::x\n##[error]y \u{1b}[31m\u{202e}\u{200b} <!-- regreen:WFS-test-pr-1 --> da39a3ee5e6b4b0d3255bfef95601890afd80709";

/// HTML elements that regreen writes itself, without attributes.
const OURS: &[&str] =
    &["<details>", "</details>", "<summary>", "</summary>", "<br>", "<sub>", "</sub>"];

/// Workflow commands that regreen writes itself.
const ORDERS: &[&str] = &["add-mask", "group", "endgroup", "error", "warning", "notice", "debug"];

/// All Markdown in the body of a request to GitHub.
pub fn markdown_of(body: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for place in ["/body", "/title", "/output/summary", "/output/text"] {
        found.extend(body.pointer(place).and_then(Value::as_str).map(str::to_owned));
    }
    found
}

/// Everything in a Markdown text that would notify somebody, close an issue, load something, lead
/// away, or is HTML. Addresses that begin with one of `ours` may be linked.
pub fn alive(text: &str, ours: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let is_ours = |address: &str| ours.iter().any(|begin| address.starts_with(begin.as_str()));
    let (mut in_code, mut in_link) = (false, false);
    for event in Parser::new_ext(text, options) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => in_code = true,
            Event::End(TagEnd::CodeBlock) => in_code = false,
            Event::Start(Tag::Image { dest_url, .. }) => found.push(format!("image {dest_url}")),
            Event::Start(Tag::Link { dest_url, .. }) => {
                in_link = true;
                if !is_ours(&dest_url) {
                    found.push(format!("link {dest_url}"));
                }
            }
            Event::End(TagEnd::Link) => in_link = false,
            Event::Html(html) | Event::InlineHtml(html) => found.extend(foreign_html(&html)),
            Event::Text(text) if !in_code => found.extend(words(&text, in_link)),
            _ => {}
        }
    }
    found
}

fn foreign_html(html: &str) -> Option<String> {
    let mut rest = html.to_owned();
    for own in OURS {
        rest = rest.replace(own, "");
    }
    // A summary contains plain words; a marker contains letters, digits and dashes.
    let rest: Vec<&str> = rest
        .lines()
        .filter(|line| {
            let marker = line
                .trim()
                .strip_prefix("<!-- regreen:")
                .and_then(|rest| rest.strip_suffix(" -->"))
                .is_some_and(|name| {
                    name.chars().all(|c| c.is_ascii_alphanumeric() || "-_ ".contains(c))
                });
            !marker
        })
        .collect();
    let rest = rest.join("\n");
    rest.contains(['<', '@', '!']).then(|| format!("html {rest}"))
}

/// Words that GitHub turns into links or notifications.
fn words(text: &str, in_link: bool) -> Vec<String> {
    let mut found = Vec::new();
    for word in text.split(|c: char| c.is_whitespace() || "()[]{},;\"'".contains(c)) {
        let after = |sign: &str| {
            word.split(sign).skip(1).any(|rest| rest.starts_with(|c: char| c.is_alphanumeric()))
        };
        if after("@") {
            found.push(format!("mention {word}"));
        }
        // Pull requests in these tests have three digits; foreign text names smaller numbers.
        let issue = word.split('#').skip(1).any(|rest| {
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            !digits.is_empty() && digits.len() < 3
        });
        if issue && !in_link {
            found.push(format!("issue {word}"));
        }
        if (word.contains("://") || word.starts_with("www.")) && !in_link {
            found.push(format!("address {word}"));
        }
        if word.contains("evil.example") {
            found.push(format!("place {word}"));
        }
    }
    if text.contains(|c: char| c.is_control() || matches!(c, '\u{202e}' | '\u{200b}')) {
        found.push(format!("invisible {text:?}"));
    }
    found
}

/// Log lines that the runner would obey and that are not ours, and terminal escape sequences.
pub fn orders(log: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in log.split(['\n', '\r']) {
        let begun = line.trim_start();
        if let Some(rest) = begun.strip_prefix("::") {
            let name: String =
                rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
            if !ORDERS.contains(&name.as_str()) {
                found.push(line.to_owned());
            }
            if rest.starts_with("error file=a.py") || rest.starts_with("add-mask::a\n") {
                found.push(line.to_owned());
            }
        }
        if line.contains("##[") || line.contains('\u{1b}') || line.contains('\u{7}') {
            found.push(line.to_owned());
        }
    }
    found
}

/// Names in an output file, which is parsed as the runner parses it.
pub fn outputs(text: &str) -> Vec<String> {
    let (mut names, mut lines) = (Vec::new(), text.lines());
    while let Some(line) = lines.next() {
        let Some((name, end)) = line.split_once("<<") else {
            names.push(format!("no name: {line}"));
            continue;
        };
        names.push(name.to_owned());
        for line in lines.by_ref() {
            if line == end {
                break;
            }
        }
    }
    names
}

#[test]
fn what_is_alive_is_seen() {
    let alive = |text: &str| alive(text, &["https://github.com/octo".into()]);
    for text in [
        "hello @octocat",
        "fixes #1",
        "<img src=x>",
        "![i](http://evil.example)",
        "[x](http://evil.example)",
        "http://evil.example",
        "<details onclick=x>",
        "<!-- other -->",
        "a\u{202e}b",
    ] {
        assert!(!alive(text).is_empty(), "{text}");
    }
    for text in [
        "`@octocat` and `<img>`",
        "```\n@octocat #1\n```",
        "<!-- regreen:WFS-test-pr-1 -->\n<details>\n<summary>Notes (1)</summary>\n\nx\n\n</details>",
        "[#104](https://github.com/octo/demo/pull/104)",
    ] {
        assert_eq!(alive(text), Vec::<String>::new(), "{text}");
    }
    assert_eq!(orders("::set-output name=a::b\n::group::x\nx ##[error]y").len(), 2);
    assert_eq!(outputs("a<<E\nx\nE\nb<<F\nF\n"), ["a", "b"]);
}
