//! The one redactor of this process: what it prints, writes into session files or sends passes
//! through here (specification.md 13.18).

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::sync::{LazyLock, PoisonError, RwLock};

use serde_json::Value;

use crate::domain::secret::{Redacted, RedactedJson, Redactor, SecretKey};

use super::environment;

/// Parts of the names of variables that hold a secret.
const SECRET_NAMES: &[&str] =
    &["TOKEN", "SECRET", "PASSWORD", "PASSWD", "API_KEY", "APIKEY", "PRIVATE_KEY", "CREDENTIAL"];

static REDACTOR: LazyLock<RwLock<Redactor>> =
    LazyLock::new(|| RwLock::new(Redactor::new(&secrets_of_environment())));

/// Values of our own variables whose names say that they hold a secret.
fn secrets_of_environment() -> Vec<SecretKey> {
    let all = environment::own().into_iter();
    all.filter(|(name, value)| is_secret_name(name) && !value.starts_with('/'))
        .map(|(_, value)| SecretKey::new(&value))
        .collect()
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    // GitHub's variables for addresses and files, such as `ACTIONS_ID_TOKEN_REQUEST_URL`.
    !name.ends_with("_URL") && SECRET_NAMES.iter().any(|part| name.contains(part))
}

/// Adds secrets that this process has come to know.
pub fn register<'a>(keys: impl IntoIterator<Item = &'a SecretKey>) {
    REDACTOR.write().unwrap_or_else(PoisonError::into_inner).add(keys);
}

/// A copy of the redactor, for what takes one as a value.
pub fn redactor() -> Redactor {
    REDACTOR.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// `text` without secrets.
pub fn redact(text: &str) -> Redacted {
    REDACTOR.read().unwrap_or_else(PoisonError::into_inner).redact(text)
}

/// Source text without known secrets, see [`Redactor::redact_source`].
pub fn redact_source(text: &str) -> Redacted {
    REDACTOR.read().unwrap_or_else(PoisonError::into_inner).redact_source(text)
}

/// `document` without secrets.
pub fn redact_json(document: Value) -> RedactedJson {
    REDACTOR.read().unwrap_or_else(PoisonError::into_inner).redact_json(document)
}

/// The longest piece of a line that is looked at at once, in bytes.
const PIECE: u64 = 256 << 10;

/// Removes secrets from a log that a child wrote, without holding the whole of it. A log without
/// secrets is left as it is.
pub fn redact_file(log: &Path) -> io::Result<()> {
    let redactor = redactor();
    let mut first = Vec::new();
    let mut pieces = BufReader::new(File::open(log)?);
    let mut unchanged = 0_u64;
    while next_piece(&mut pieces, &mut first)? {
        let text = String::from_utf8_lossy(&first);
        if *redactor.redact(&text) != *text {
            return rewrite(log, unchanged, &redactor);
        }
        unchanged += first.len() as u64;
    }
    Ok(())
}

/// Copies the first bytes of a log, redacts the others, and puts the copy in its place.
fn rewrite(log: &Path, unchanged: u64, redactor: &Redactor) -> io::Result<()> {
    let folder = log.parent().unwrap_or(Path::new("."));
    let mut copy = tempfile::Builder::new().prefix(".regreen-").tempfile_in(folder)?;
    let mut pieces = BufReader::new(File::open(log)?);
    io::copy(&mut (&mut pieces).take(unchanged), &mut copy)?;
    let mut piece = Vec::new();
    while next_piece(&mut pieces, &mut piece)? {
        let text = String::from_utf8_lossy(&piece);
        copy.write_all(redactor.redact(&text).as_bytes())?;
    }
    copy.persist(log).map_err(|error| error.error)?;
    Ok(())
}

/// Reads the next line, or a part of a very long one; false at the end.
fn next_piece(reader: &mut impl BufRead, piece: &mut Vec<u8>) -> io::Result<bool> {
    piece.clear();
    reader.take(PIECE).read_until(b'\n', piece)?;
    Ok(!piece.is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::files::write;
    use super::*;

    #[test]
    fn a_log_loses_its_secrets_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("suite.log");
        let token = ["ghs", "_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"].concat();
        let plain = b"collected\xff 3 items\n".to_vec();
        let spoken = format!("E  AssertionError: {token}\n1 failed");
        write(&log, &[plain.as_slice(), spoken.as_bytes()].concat()).unwrap();
        redact_file(&log).unwrap();
        let expected = [plain.as_slice(), b"E  AssertionError: [redacted]\n1 failed"].concat();
        assert_eq!(std::fs::read(&log).unwrap(), expected);
    }

    #[test]
    fn variables_of_secrets_are_known_by_their_names() {
        for name in ["GITHUB_TOKEN", "INPUT_TOKEN", "npm_config__authToken", "DB_PASSWORD"] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in ["PATH", "ACTIONS_ID_TOKEN_REQUEST_URL", "KEYBOARD", "GITHUB_OUTPUT"] {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn a_registered_key_is_redacted_everywhere() {
        let key = SecretKey::new("registered-key-of-a-test-0123456789");
        assert_eq!(&*redact(key.expose()), key.expose());
        register([&key]);
        assert_eq!(&*redact(&format!("x {}", key.expose())), "x [redacted]");
        assert_eq!(
            *redact_json(serde_json::json!([key.expose()])),
            serde_json::json!(["[redacted]"])
        );
        assert!(redactor().finds(key.expose()));
    }
}
