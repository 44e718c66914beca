//! Git's pkt-line wire format (gitprotocol-common, -pack, -http; version 0): pure, bounded parsing.

/// Largest packet, its four length digits included.
const LINE_LIMIT: usize = 65_520;

/// References of one advertisement that are read, at most.
const REFERENCES: usize = 500_000;

/// Characters of a server's message that are kept.
const SAID: usize = 400;

/// One line of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pkt<'a> {
    /// The line `0000`, which ends a section.
    Flush,
    /// A data packet, with the newline at its end.
    Data(&'a [u8]),
}

/// Why a response is malformed.
pub type Wrong = &'static str;

/// Takes the first packet off `rest`; `None` at the end.
pub fn next<'a>(rest: &mut &'a [u8]) -> Result<Option<Pkt<'a>>, Wrong> {
    if rest.is_empty() {
        return Ok(None);
    }
    let (digits, after) = rest.split_at_checked(4).ok_or("a packet is cut within its length")?;
    let digits = std::str::from_utf8(digits).map_err(|_error| "a length is not a number")?;
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err("a length is not a number");
    }
    let length = usize::from_str_radix(digits, 16).map_err(|_error| "a length is not a number")?;
    match length {
        0 => {
            *rest = after;
            Ok(Some(Pkt::Flush))
        }
        4..=LINE_LIMIT => {
            let (data, after) =
                after.split_at_checked(length - 4).ok_or("the answer ends in a line")?;
            *rest = after;
            Ok(Some(Pkt::Data(data)))
        }
        _ => Err("a length is out of range"),
    }
}

/// Appends a data packet.
pub fn write(out: &mut Vec<u8>, line: &[u8]) {
    debug_assert!(line.len() + 4 <= LINE_LIMIT);
    out.extend_from_slice(format!("{:04x}", line.len() + 4).as_bytes());
    out.extend_from_slice(line);
}

/// Appends a flush packet.
pub fn flush(out: &mut Vec<u8>) {
    out.extend_from_slice(b"0000");
}

/// The references and capabilities that a server advertises.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Advertisement {
    /// Full names of references, with object ids of 40 hexadecimal digits.
    pub references: Vec<(String, String)>,
    pub capabilities: Vec<String>,
}

impl Advertisement {
    /// The object id of a reference.
    pub fn find(&self, name: &str) -> Option<&str> {
        self.references.iter().find(|(known, _)| known == name).map(|(_, id)| id.as_str())
    }

    /// Whether the server offers a capability.
    pub fn can(&self, capability: &str) -> bool {
        self.capabilities.iter().any(|known| known == capability)
    }
}

fn is_id(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn text(data: &[u8]) -> Result<&str, Wrong> {
    let data = data.strip_suffix(b"\n").unwrap_or(data);
    std::str::from_utf8(data).map_err(|_error| "a line is not UTF-8")
}

/// Parses the response of `info/refs?service=…`.
pub fn advertisement(mut rest: &[u8], service: &str) -> Result<Advertisement, Wrong> {
    let Some(Pkt::Data(first)) = next(&mut rest)? else { return Err("it does not begin") };
    if text(first)? != format!("# service={service}") {
        return Err("it names another service");
    }
    if next(&mut rest)? != Some(Pkt::Flush) {
        return Err("the service is not followed by a flush");
    }
    let mut found = Advertisement::default();
    let lines = section(&mut rest, "the list of references has no end")?;
    for (index, mut data) in lines.into_iter().enumerate() {
        if index == 0 {
            let zero =
                data.iter().position(|byte| *byte == 0).ok_or("there are no capabilities")?;
            let (line, capabilities) = data.split_at(zero);
            let capabilities = text(capabilities.get(1..).unwrap_or_default())?;
            found.capabilities = capabilities.split_whitespace().map(str::to_owned).collect();
            data = line;
        }
        let line = text(data)?;
        if line.starts_with("shallow ") || line.starts_with("version ") {
            continue;
        }
        let (id, name) = line.split_once(' ').ok_or("a reference has no name")?;
        if !is_id(id) {
            return Err("a reference has no object id; is it a SHA-256 repository?");
        }
        if found.references.len() == REFERENCES {
            return Err("there are too many references");
        }
        if !name.ends_with("^{}") {
            found.references.push((name.to_owned(), id.to_ascii_lowercase()));
        }
    }
    Ok(found)
}

/// The packets up to the next flush; fails with `unended` when there is none.
fn section<'a>(rest: &mut &'a [u8], unended: Wrong) -> Result<Vec<&'a [u8]>, Wrong> {
    let mut lines = Vec::new();
    while let Some(line) = next(rest)? {
        match line {
            Pkt::Data(data) => lines.push(data),
            Pkt::Flush => return Ok(lines),
        }
    }
    Err(unended)
}

/// The parsed response of `git-upload-pack`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fetched {
    /// Commits that become shallow: their parents are now missing.
    pub shallow: Vec<String>,
    /// Commits that are no longer shallow: their parents are now present.
    pub unshallow: Vec<String>,
    /// The pack; empty when nothing was missing.
    pub pack: Vec<u8>,
}

/// Why a response holds no pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FetchError {
    /// The server refuses the request; a repetition is refused too.
    Refused(String),
    /// The server failed, or the response is malformed.
    Broken(String),
}

impl From<Wrong> for FetchError {
    fn from(wrong: Wrong) -> Self {
        Self::Broken(wrong.into())
    }
}

/// Parses the response to a request with `done`; `deepened` if the request named a depth.
pub fn fetched(mut rest: &[u8], deepened: bool) -> Result<Fetched, FetchError> {
    let mut found = Fetched::default();
    if deepened {
        for data in section(&mut rest, "the list of cut commits has no end")? {
            let line = text(data)?;
            refuse_error(line)?;
            match line.split_once(' ') {
                Some(("shallow", id)) if is_id(id) => found.shallow.push(id.to_owned()),
                Some(("unshallow", id)) if is_id(id) => found.unshallow.push(id.to_owned()),
                _ => return Err("a line about a cut commit is none".into()),
            }
        }
    }
    let mut answered = false;
    loop {
        let before = rest;
        match next(&mut rest)? {
            Some(Pkt::Flush) => {}
            None => return Err("there is no pack".into()),
            // The sidebands begin here.
            Some(Pkt::Data([1..=3, ..])) if answered => {
                rest = before;
                break;
            }
            Some(Pkt::Data(data)) => {
                let line = text(data)?;
                refuse_error(line)?;
                // Without multi_ack there is one ACK for each first common commit.
                if line != "NAK" && !line.strip_prefix("ACK ").is_some_and(is_id) {
                    return Err("neither ACK nor NAK".into());
                }
                answered = true;
            }
        }
    }
    let bands = sidebands(rest)?;
    if let Some(fatal) = bands.fatal {
        return Err(FetchError::Broken(fatal));
    }
    found.pack = bands.data;
    Ok(found)
}

fn refuse_error(line: &str) -> Result<(), FetchError> {
    match line.strip_prefix("ERR ") {
        Some(reason) => Err(FetchError::Refused(one_line(reason))),
        None => Ok(()),
    }
}

/// The three sidebands of a response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bands {
    /// Band 1, the pack.
    pub data: Vec<u8>,
    /// Band 2, messages for people; bounded.
    pub message: String,
    /// Band 3, the fatal error.
    pub fatal: Option<String>,
}

/// Splits a response into its sidebands. One without a closing flush was truncated.
pub fn sidebands(mut rest: &[u8]) -> Result<Bands, Wrong> {
    let mut bands = Bands::default();
    let mut message = Vec::new();
    loop {
        match next(&mut rest)? {
            Some(Pkt::Flush) => break,
            None => return Err("the answer ends in the middle"),
            Some(Pkt::Data(data)) => match data.split_first() {
                Some((1, data)) => bands.data.extend_from_slice(data),
                Some((2, data)) if message.len() < 8192 => message.extend_from_slice(data),
                Some((2, _)) => {}
                Some((3, data)) => {
                    bands.fatal = Some(one_line(&String::from_utf8_lossy(data)));
                    break;
                }
                _ => return Err("a line has no band"),
            },
        }
    }
    bands.message = one_line(&String::from_utf8_lossy(&message));
    Ok(bands)
}

/// The answer of `git-receive-pack` about one reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    Moved,
    /// The server rejected the update, with this reason.
    Refused(String),
}

/// Parses the status report for `reference`.
pub fn report(mut rest: &[u8], reference: &str) -> Result<Report, Wrong> {
    let Some(Pkt::Data(first)) = next(&mut rest)? else { return Err("there is no report") };
    let unpacked = text(first)?.strip_prefix("unpack ").ok_or("the report does not begin")?;
    let mut answer = None;
    while let Some(Pkt::Data(line)) = next(&mut rest)? {
        let line = text(line)?;
        if line.strip_prefix("ok ") == Some(reference) {
            answer = Some(Report::Moved);
        } else if let Some((name, why)) =
            line.strip_prefix("ng ").and_then(|line| line.split_once(' '))
            && name == reference
        {
            answer = Some(Report::Refused(one_line(why)));
        }
    }
    match (unpacked, answer) {
        ("ok", Some(answer)) => Ok(answer),
        ("ok", None) => Err("the report does not name the reference"),
        (why, Some(Report::Moved) | None) => Ok(Report::Refused(one_line(why))),
        (_, Some(refused)) => Ok(refused),
    }
}

/// Untrusted text as one bounded line.
pub fn one_line(text: &str) -> String {
    let plain: String =
        text.chars().take(8192).map(|c| if c.is_control() { ' ' } else { c }).collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(SAID).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const A: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

    fn lines(lines: &[&[u8]]) -> Vec<u8> {
        let mut out = Vec::new();
        for line in lines {
            if line.is_empty() { flush(&mut out) } else { write(&mut out, line) }
        }
        out
    }

    #[test]
    fn a_list_of_references_is_read_and_a_cut_one_refused() {
        let whole = lines(&[
            b"# service=git-upload-pack\n",
            b"",
            format!("{A} HEAD\0shallow ofs-delta\n").as_bytes(),
            format!("{A} refs/tags/v1^{{}}\n").as_bytes(),
            format!("{A} refs/heads/main\n").as_bytes(),
            b"",
        ]);
        let read = advertisement(&whole, "git-upload-pack").expect("it is whole");
        assert_eq!(read.find("refs/heads/main"), Some(A));
        assert_eq!(read.references.len(), 2, "peeled tags are left out");
        assert!(read.can("shallow") && !read.can("shall"));
        assert!(advertisement(&whole, "git-receive-pack").is_err());
        for cut in 0..whole.len() {
            assert!(advertisement(&whole[..cut], "git-upload-pack").is_err(), "cut at {cut}");
        }
    }

    #[test]
    fn an_empty_repository_has_no_references() {
        let zero = "0".repeat(40);
        let first = format!("{zero} capabilities^{{}}\0report-status\n");
        let all = lines(&[b"# service=git-receive-pack\n", b"", first.as_bytes(), b""]);
        let read = advertisement(&all, "git-receive-pack").expect("it is whole");
        assert!(read.references.is_empty() && read.can("report-status"));
    }

    #[test]
    fn reports_name_what_was_refused() {
        type Row = (&'static str, &'static [&'static [u8]], Result<Report, Wrong>);
        let table: [Row; 5] = [
            ("moved", &[b"unpack ok\n", b"ok refs/heads/x\n", b""], Ok(Report::Moved)),
            (
                "refused",
                &[b"unpack ok\n", b"ng refs/heads/x pre-receive hook declined\n", b""],
                Ok(Report::Refused("pre-receive hook declined".into())),
            ),
            (
                "a bad pack moves nothing",
                &[b"unpack index-pack abnormal exit\n", b"ok refs/heads/x\n", b""],
                Ok(Report::Refused("index-pack abnormal exit".into())),
            ),
            (
                "another one",
                &[b"unpack ok\n", b"ok refs/heads/y\n", b""],
                Err("the report does not name the reference"),
            ),
            ("nothing", &[b""], Err("there is no report")),
        ];
        for (why, answer, expected) in table {
            assert_eq!(report(&lines(answer), "refs/heads/x"), expected, "{why}");
        }
    }

    #[test]
    fn what_a_server_refuses_differs_from_what_it_fails_at() {
        let error = b"ERR upload-pack: not our ref 1\n";
        let refused = FetchError::Refused("upload-pack: not our ref 1".into());
        for (deepened, answer, expected) in [
            (false, lines(&[error]), refused.clone()),
            (true, lines(&[error, b""]), refused),
            (
                false,
                lines(&[b"NAK\n", b"\x03out of memory"]),
                FetchError::Broken("out of memory".into()),
            ),
        ] {
            assert_eq!(fetched(&answer, deepened), Err(expected));
        }
    }

    #[test]
    fn what_the_server_says_becomes_one_bounded_line() {
        assert_eq!(one_line("a\n::set-env x\u{1b}[0m"), "a ::set-env x [0m");
        assert_eq!(one_line(&"x".repeat(9000)).len(), SAID);
    }

    proptest! {
        #[test]
        fn foreign_bytes_never_panic_and_never_grow(
            bytes in proptest::collection::vec(any::<u8>(), 0..600),
            deepened: bool,
        ) {
            let _ignored = advertisement(&bytes, "git-upload-pack");
            let _ignored = report(&bytes, "refs/heads/x");
            if let Ok(found) = fetched(&bytes, deepened) {
                prop_assert!(found.pack.len() <= bytes.len());
            }
            if let Ok(bands) = sidebands(&bytes) {
                prop_assert!(bands.data.len() <= bytes.len());
            }
        }

        #[test]
        fn what_is_written_is_read(data in proptest::collection::vec(any::<u8>(), 0..2000)) {
            let mut out = Vec::new();
            write(&mut out, &data);
            flush(&mut out);
            let mut rest = out.as_slice();
            prop_assert_eq!(next(&mut rest), Ok(Some(Pkt::Data(&data))));
            prop_assert_eq!(next(&mut rest), Ok(Some(Pkt::Flush)));
            prop_assert_eq!(next(&mut rest), Ok(None));
        }
    }
}
