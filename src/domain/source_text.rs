//! The text of a source file, which is UTF-8 or what the file itself declares.

use super::id::RepoPath;

/// The text of a file; `None` if it is neither UTF-8 nor Python that declares Latin-1.
pub fn decode(file: &RepoPath, bytes: Vec<u8>) -> Option<String> {
    let start = bytes.split_inclusive(|byte| *byte == b'\n').take(2).flatten();
    let start: String = start.map(|byte| char::from(*byte)).collect();
    if is_latin(file, &start) {
        return Some(bytes.into_iter().map(char::from).collect());
    }
    String::from_utf8(bytes).ok()
}

/// The bytes of a text in the encoding that it declares; `None` if that lacks one of its characters.
pub fn encode(file: &RepoPath, text: &str) -> Option<Vec<u8>> {
    if !is_latin(file, text) {
        return Some(text.as_bytes().to_vec());
    }
    text.chars().map(|c| u8::try_from(c).ok()).collect()
}

/// Whether a file of Python declares Latin-1 in one of its first two lines (PEP 263).
fn is_latin(file: &RepoPath, text: &str) -> bool {
    let declared = |line: &str| {
        let comment = line.trim_start().strip_prefix('#')?;
        let (_, rest) = comment.split_once("coding")?;
        let name = rest.strip_prefix([':', '='])?.trim_start();
        let end = name.find(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c));
        Some(name.split_at(end.unwrap_or(name.len())).0.to_ascii_lowercase().replace('_', "-"))
    };
    let latin = ["latin-1", "latin1", "iso-8859-1", "iso8859-1", "l1"];
    // The second line counts only behind one without code.
    let is_empty = |line: &&str| line.trim().is_empty() || line.trim_start().starts_with('#');
    let lines = if text.lines().next().is_none_or(|line| is_empty(&line)) { 2 } else { 1 };
    file.as_str().ends_with(".py")
        && text.lines().take(lines).find_map(declared).is_some_and(|name| latin.contains(&&*name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_and_written_as_its_file_declares() {
        let table: [(&str, &[u8], Option<&str>); 7] = [
            (
                "a.py",
                b"# -*- coding: latin-1 -*-\n'\xe4'\n",
                Some("# -*- coding: latin-1 -*-\n'ä'\n"),
            ),
            (
                "a.py",
                b"#!x\n# vim: set fileencoding=ISO-8859-1 :\n\xc3\xa4",
                Some("#!x\n# vim: set fileencoding=ISO-8859-1 :\nÃ¤"),
            ),
            ("a.py", b"\n\n# coding: latin-1\n\xe4", None),
            ("a.py", b"# coding: cp1251\n\xe4", None),
            ("a.js", b"# coding: latin-1\n\xe4", None),
            ("a.py", "x = 'ä'\n".as_bytes(), Some("x = 'ä'\n")),
            ("a.py", b"", Some("")),
        ];
        for (name, bytes, expected) in table {
            let file = RepoPath::parse(name).unwrap();
            let text = decode(&file, bytes.to_vec());
            assert_eq!(text.as_deref(), expected, "{name}: {bytes:?}");
            if let Some(text) = text {
                assert_eq!(encode(&file, &text).as_deref(), Some(bytes), "{name}: {text}");
            }
        }
        let file = RepoPath::parse("a.py").unwrap();
        assert_eq!(encode(&file, "# coding: latin-1\n'€'\n"), None);
    }
}
