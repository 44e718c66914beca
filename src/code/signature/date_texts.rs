//! Dates and times as texts, in the notations that some code reads.

use crate::code::pattern::Pattern;

/// Dates in the notation of HTTP and in that of ISO 8601, each one earlier and one later.
const HTTP: &[&str] = &["Thu, 29 Feb 2024 12:30:05 GMT", "Sun, 31 Mar 2024 23:59:59 GMT"];
const TIMES: &[&str] = &["2024-02-29T12:30:05Z", "2024-03-31T23:59:59Z"];
const DAYS: &[&str] = &["2024-02-29", "2024-03-31"];

/// Readers of dates whose notation their name tells.
static READERS: [(Pattern, &[&[&str]]); 3] = [
    (Pattern::new(r"\bDate\.parse\(|\bnew Date\(\s*[A-Za-z_$]"), &[TIMES, HTTP]),
    (Pattern::new(r"\bparsedate(?:_to_datetime|_tz)?\(|\bhttp\.ParseTime\("), &[HTTP]),
    (Pattern::new(r"\bfromisoformat\("), &[DAYS, TIMES]),
];

/// What reads dates in a notation that its argument spells: in Python by directives, in Go by an example.
static DIRECTIVES: Pattern = Pattern::new(r#"\bstrptime\([^"'\n]*["']([^"'\n]+)["']"#);
static LAYOUT: Pattern =
    Pattern::new(r#"\btime\.Parse(?:InLocation)?\((?:"([^"\n]+)"|time\.RFC3339)"#);

/// Directives of Python, each with its value in an earlier and in a later time.
const VALUES: &str = "%Y=2024=2024 %y=24=24 %m=02=03 %d=29=31 %H=12=23 %I=12=11 %M=30=59 %S=05=59 \
    %f=000000=999999 %b=Feb=Mar %B=February=March %a=Thu=Sun %A=Thursday=Sunday %p=PM=PM %j=060=091 \
    %z=+0000=+0200 %Z=UTC=UTC";

/// Texts of dates, as literals, in the notations that some lines of code read.
pub(super) fn date_texts(lines: &[(u32, &str)]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (_, line) in lines {
        for (_, notations) in READERS.iter().filter(|(mark, _)| mark.is_match(line)) {
            found.extend(notations.concat().into_iter().map(str::to_owned));
        }
        for one in DIRECTIVES.captures(line) {
            let format = one.get(1).map_or("", |format| format.as_str());
            found.extend([1, 2].map(|column| {
                VALUES.split_whitespace().fold(format.to_owned(), |text, row| {
                    let row: Vec<&str> = row.split('=').collect();
                    text.replace(row.first().unwrap_or(&""), row.get(column).unwrap_or(&""))
                })
            }));
        }
        for one in LAYOUT.captures(line) {
            // A layout is a date in its own notation, but for the sign of the zone.
            let layout = one.get(1).map_or("2006-01-02T15:04:05Z", |own| own.as_str());
            let earlier = layout.replace("Z07:00", "Z");
            found.extend([earlier.replace("04", "59"), earlier]);
        }
    }
    let mut seen = Vec::new();
    found.retain(|one| {
        !seen.contains(one) && {
            seen.push(one.clone());
            true
        }
    });
    found.into_iter().map(|text| format!("\"{text}\"")).collect()
}

/// Texts of dates for a key whose value some code reads as one: `fromisoformat(body["until"])`.
pub(super) fn dates_of_key(code: &str, key: &str) -> Vec<String> {
    let is_key = |inner: &str| {
        ['"', '\''].iter().any(|quote| inner.contains(&format!("{quote}{key}{quote}")))
    };
    let reads = |line: &&str| {
        let readers = ["fromisoformat(", "strptime("].iter();
        let mut given = readers.filter_map(|reader| line.split_once(reader)?.1.split(')').next());
        given.any(is_key)
    };
    date_texts(&code.lines().filter(reads).map(|line| (0, line)).collect::<Vec<_>>())
}

/// Last words of the names of what holds a date.
const HOLDERS: &[&str] = &["since", "modified", "expires", "date", "until", "before", "after"];

/// For keys that hold dates by their names, those dates among some texts that are written like it: headers in
/// the notation of HTTP.
pub fn dates_of_keys(keys: &[String], texts: &[String]) -> Vec<(String, String)> {
    let fits = |key: &str, text: &str| {
        let is_one = |list: &[&str]| list.contains(&text.trim_matches('"'));
        let is_date = HOLDERS.iter().any(|word| key.to_ascii_lowercase().ends_with(word));
        is_date && (is_one(HTTP) || is_one(TIMES) && !key.contains('-'))
    };
    let all = keys.iter().flat_map(|key| texts.iter().map(move |text| (key.clone(), text.clone())));
    all.filter(|(key, text)| fits(key, text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_key_that_is_read_as_a_date_gets_dates() {
        let code = "lend(repo(), body[\"isbn\"], date.fromisoformat(body[\"today\"]))";
        assert_eq!(dates_of_key(code, "today").first().map(String::as_str), Some("\"2024-02-29\""));
        assert_eq!(dates_of_key(code, "isbn"), Vec::<String>::new());
    }

    #[test]
    fn what_reads_a_date_has_an_earlier_and_a_later_one_in_its_notation() {
        let table: &[(&str, &[&str])] = &[
            (
                "  return Date.parse(date)",
                &["2024-02-29T12:30:05Z", "2024-03-31T23:59:59Z", HTTP[0], HTTP[1]],
            ),
            ("    when = parsedate_to_datetime(text)", HTTP),
            ("    return datetime.fromisoformat(text)", &[DAYS[0], DAYS[1], TIMES[0], TIMES[1]]),
            (
                "    t = datetime.strptime(text, '%d/%b/%Y %H:%M')",
                &["29/Feb/2024 12:30", "31/Mar/2024 23:59"],
            ),
            (
                "\tt, err := time.Parse(\"02 Jan 2006 15:04\", s)",
                &["02 Jan 2006 15:59", "02 Jan 2006 15:04"],
            ),
            (
                "\tt, err := time.Parse(time.RFC3339, s)",
                &["2006-01-02T15:59:05Z", "2006-01-02T15:04:05Z"],
            ),
            ("  return new Date(2024, 1, 1)", &[]),
        ];
        for (line, expected) in table {
            let expected: Vec<String> = expected.iter().map(|one| format!("\"{one}\"")).collect();
            assert_eq!(date_texts(&[(1, line)]), expected, "{line}");
        }
    }

    #[test]
    fn keys_that_hold_dates_get_them() {
        let keys = ["cache-control", "if-modified-since", "etag", "startDate"].map(str::to_owned);
        let mut texts = date_texts(&[(1, "Date.parse(x)")]);
        texts.push("\"no-cache\"".to_owned());
        let found = dates_of_keys(&keys, &texts);
        let shown: Vec<(&str, &str)> =
            found.iter().map(|(key, text)| (key.as_str(), text.trim_matches('"'))).collect();
        let header = "if-modified-since";
        assert_eq!(shown[..2], [(header, HTTP[0]), (header, HTTP[1])]);
        assert_eq!(shown[2..4], [("startDate", TIMES[0]), ("startDate", TIMES[1])]);
        assert!(shown.iter().all(|(key, _)| *key != "cache-control"), "{shown:?}");
    }
}
