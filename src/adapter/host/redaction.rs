//! The one redactor of this process: what it prints, writes into session files or sends passes
//! through here (specification.md 4.13).

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::{LazyLock, PoisonError, RwLock};

use serde_json::Value;

use crate::domain::secret::{Redacted, RedactedJson, Redactor, SecretKey};
use crate::domain::test_command::{TestCommand, unquoted};

use super::canary::canary;
use super::environment;

/// Parts of the names of variables that hold a secret.
const SECRET_NAMES: &[&str] =
    &["TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "APIKEY", "PRIVATEKEY", "CREDENTIAL"];

/// Ends of the names of variables that hold a secret.
const SECRET_ENDINGS: &[&str] =
    &["_KEY", "_PAT", "_PASS", "_PWD", "_JWT", "_AUTH", "_COOKIE", "_BEARER"];

static REDACTOR: LazyLock<RwLock<Redactor>> = LazyLock::new(|| {
    let mut redactor = Redactor::new(&secrets_of_environment());
    if let Some(canary) = canary() {
        redactor.add_canary(canary);
    }
    RwLock::new(redactor)
});

/// Values of our own variables whose names say that they hold a secret.
fn secrets_of_environment() -> Vec<SecretKey> {
    let mut secrets = Vec::new();
    for (name, value) in environment::own() {
        if is_secret_name(&name) && is_secret_value(&value) {
            secrets.push(SecretKey::new(&value));
        }
        secrets.extend(password_of(&value).map(SecretKey::new));
    }
    secrets
}

/// Whether a value may be secret: the path of an existing file is none, and a word such as the
/// `postgres` of many test set-ups would take ordinary text out of every report.
fn is_secret_value(value: &str) -> bool {
    let is_word = value.len() < 16 && value.chars().all(|c| c.is_ascii_alphabetic());
    let is_file = value.starts_with('/') && Path::new(value).exists();
    !is_word && !is_file
}

/// The password in an address such as `postgres://user:password@host/name`.
fn password_of(value: &str) -> Option<&str> {
    let (_, rest) = value.split_once("://")?;
    let (login, _) = rest.split('/').next()?.rsplit_once('@')?;
    login.split_once(':').map(|(_, password)| password).filter(|password| is_secret_value(password))
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    // GitHub's variables for addresses and files, such as `ACTIONS_ID_TOKEN_REQUEST_URL`.
    !name.ends_with("_URL")
        && (SECRET_NAMES.iter().any(|part| name.contains(part))
            || SECRET_ENDINGS.iter().any(|ending| name.ends_with(ending)))
}

/// The secrets among HTTP headers, by name: whole values, and what follows a login's scheme.
pub fn secrets_of_headers<'a>(
    headers: impl IntoIterator<Item = (&'a String, &'a String)>,
) -> Vec<SecretKey> {
    let is_secret = |name: &str| {
        let name = name.to_ascii_uppercase().replace('-', "_");
        is_secret_name(&name) || name.contains("AUTH") || name.contains("COOKIE")
    };
    let values = headers.into_iter().filter(|(name, _)| is_secret(name)).map(|(_, value)| value);
    let parts = values.flat_map(|value| {
        let login = value.split_once(' ').map(|(_, login)| login);
        [Some(value.as_str()), login].into_iter().flatten()
    });
    parts.filter(|value| is_secret_value(value)).map(SecretKey::new).collect()
}

/// Adds secrets that this process has come to know.
pub fn register<'a>(keys: impl IntoIterator<Item = &'a SecretKey>) {
    REDACTOR.write().unwrap_or_else(PoisonError::into_inner).add(keys);
}

/// Adds the secrets of a shell command: values of variables and options, passwords in addresses.
pub fn register_command(command: &str) {
    let command = TestCommand::new(command);
    let words = command.words().iter().map(|word| unquoted(word));
    let words: Vec<String> = words.chain(command.text().split_whitespace().map(unquoted)).collect();
    let following = words.iter().skip(1).map(Some).chain([None]);
    let secrets = words.iter().zip(following).flat_map(|(word, next)| {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word.as_str(), next.map(String::as_str).filter(|_| word.starts_with("--"))),
        };
        let name = name.trim_start_matches(['-', '\'', '"']).replace(['-', '.'], "_");
        let is_secret = |value: &&str| {
            is_secret_name(&format!("_{name}")) && is_secret_value(value) && !value.starts_with('$')
        };
        value.filter(is_secret).into_iter().chain(password_of(word)).map(SecretKey::new)
    });
    register(&secrets.collect::<Vec<_>>());
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

/// A log is looked at in pieces of this size, in bytes.
const PIECE: u64 = 256 << 10;

/// The end of a piece that is looked at again with the next; longer than any token or key.
const OVERLAP: usize = 16 << 10;

/// Removes secrets from a log that a child wrote, without holding the whole of it. A log without
/// secrets is left as it is; in others, bytes that are no text become U+FFFD.
pub fn redact_file(log: &Path) -> io::Result<()> {
    let folder = log.parent().unwrap_or(Path::new("."));
    let mut copy: Option<tempfile::NamedTempFile> = None;
    let mut file = File::open(log)?;
    // Bytes that are known to stay, and the window that is looked at.
    let (mut done, mut window) = (0_u64, Vec::new());
    loop {
        let before = window.len();
        (&mut file).take(PIECE).read_to_end(&mut window)?;
        let is_end = window.len() == before;
        let text = String::from_utf8_lossy(&window);
        let clean = redact(&text);
        if *clean != *text {
            if copy.is_none() {
                let mut made = tempfile::Builder::new().prefix(".regreen-").tempfile_in(folder)?;
                io::copy(&mut File::open(log)?.take(done), &mut made)?;
                copy = Some(made);
            }
            window = clean.as_bytes().to_vec();
        }
        let mut border = if is_end { window.len() } else { window.len().saturating_sub(OVERLAP) };
        // A character stays whole.
        while window.get(border).is_some_and(|byte| byte & 0xc0 == 0x80) {
            border -= 1;
        }
        let rest = window.split_off(border);
        match &mut copy {
            Some(copy) => copy.write_all(&window)?,
            None => done += window.len() as u64,
        }
        window = rest;
        if is_end {
            break;
        }
    }
    match copy {
        Some(copy) => copy.persist(log).map(drop).map_err(|error| error.error),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::files::write;
    use super::*;

    #[test]
    fn a_command_gives_its_secrets_away_nowhere() {
        register_command(
            "env DB_PASSWORD='hunter2-Secret-99' MODE=production-mode X_TOKEN=$SOME_VARIABLE pytest",
        );
        let shown = redact("hunter2-Secret-99 production-mode $SOME_VARIABLE").to_string();
        assert!(!shown.contains("hunter2"), "{shown}");
        assert!(shown.ends_with("production-mode $SOME_VARIABLE"), "{shown}");
        for (command, secret) in [
            ("DB_PASSWORD='two words of-it' pytest", "two words of-it"),
            ("pytest --password Correct-Horse-7", "Correct-Horse-7"),
            ("pytest --api-key=Battery-Staple-8", "Battery-Staple-8"),
            ("URL=postgres://me:Trouba-dour-9@host/db pytest", "Trouba-dour-9"),
        ] {
            register_command(command);
            assert!(!redact(secret).to_string().contains(secret), "{command}");
        }
    }

    #[test]
    fn a_log_loses_its_secrets_and_stays_what_it_is_without_any() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("suite.log");
        let token = ["ghs", "_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"].concat();
        let plain = b"collected\xff 3 items\n".to_vec();
        let spoken = format!("E  AssertionError: {token}\n1 failed");
        write(&log, &[plain.as_slice(), spoken.as_bytes()].concat()).unwrap();
        redact_file(&log).unwrap();
        let expected = "collected\u{fffd} 3 items\nE  AssertionError: [redacted]\n1 failed";
        assert_eq!(std::fs::read_to_string(&log).unwrap(), expected);
        write(&log, &plain).unwrap();
        redact_file(&log).unwrap();
        assert_eq!(std::fs::read(&log).unwrap(), plain);
    }

    #[test]
    fn variables_of_secrets_are_known_by_their_names() {
        for name in ["GITHUB_TOKEN", "INPUT_TOKEN", "npm_config__authToken", "DB_PASS", "GH_PAT"] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in ["PATH", "ACTIONS_ID_TOKEN_REQUEST_URL", "KEYBOARD", "GITHUB_OUTPUT"] {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn neither_a_border_nor_a_line_hides_a_secret_in_a_log() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("suite.log");
        let token = ["ghs", "_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"].concat();
        let key =
            ["-----BEGIN RSA", " PRIVATE KEY-----\nMIIE\nAbCd\n-----END RSA PRIVATE KEY-----"];
        let border = usize::try_from(PIECE).unwrap();
        for (before, secret) in
            [(border - 9, &token), (border - OVERLAP - 3, &token), (7, &key.concat())]
        {
            let text = format!("{} {secret} é", "x".repeat(before));
            write(&log, text.as_bytes()).unwrap();
            redact_file(&log).unwrap();
            let shown = std::fs::read_to_string(&log).unwrap();
            assert_eq!(shown, format!("{} [redacted] é", "x".repeat(before)));
        }
    }

    #[test]
    fn a_value_is_secret_unless_it_is_a_word_or_a_file() {
        for (value, expected) in [
            ("postgres", false),
            ("/usr/bin", false),
            ("/Zk3vW2kP9xR4tB6nM1sD8fG3hJ5yQ", true),
            ("hunter22", true),
        ] {
            assert_eq!(is_secret_value(value), expected, "{value}");
        }
        assert_eq!(password_of("postgres://ann:pa55word-x@db:5432/shop"), Some("pa55word-x"));
        assert_eq!(password_of("postgres://ann:postgres@db/shop"), None);
        assert_eq!(password_of("https://example.org/a@b"), None);
    }

    #[test]
    fn headers_are_secret_by_their_names() {
        let table = [
            (
                "Authorization",
                "Bearer tok-0123456789",
                &["Bearer tok-0123456789", "tok-0123456789"][..],
            ),
            ("x-api-key", "0123456789", &["0123456789"]),
            ("Ocp-Apim-Subscription-Key", "0123456789", &["0123456789"]),
            ("cf-access-token", "0123456789", &["0123456789"]),
            ("cookie", "session=0123456789", &["session=0123456789"]),
            ("x-team", "payments-2026", &[]),
            ("x-auth-mode", "anonymous", &[]),
        ];
        for (name, value, expected) in table {
            let (name, value) = (name.to_owned(), value.to_owned());
            let found = secrets_of_headers([(&name, &value)]);
            assert_eq!(found.iter().map(SecretKey::expose).collect::<Vec<_>>(), expected, "{name}");
        }
    }

    #[test]
    fn a_registered_key_is_redacted_everywhere() {
        let key = SecretKey::new("9sX2registered-key-of-a-test-qV7w");
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
