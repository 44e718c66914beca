//! URL paths and queries of GitHub's API, with every untrusted part percent-encoded.

use crate::adapter::host::http::{is_loopback, percent_encode};

/// A path of percent-encoded segments; `None` if a segment is empty, `.` or `..`, which servers and
/// clients resolve to another path.
pub fn path<'a>(segments: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let mut path = String::new();
    for segment in segments {
        if segment.is_empty() || segment == "." || segment == ".." {
            return None;
        }
        path.push('/');
        path.push_str(&percent_encode(segment));
    }
    Some(path)
}

/// A query string with its question mark; empty without parameters.
pub fn query(pairs: &[(&str, &str)]) -> String {
    let pairs: Vec<String> =
        pairs.iter().map(|(name, value)| format!("{name}={}", percent_encode(value))).collect();
    if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
}

/// Why an address cannot be used as the base of GitHub's API.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{url}` is not the URL of a GitHub API: {reason}")]
pub struct AddressError {
    pub url: String,
    /// What makes it unusable.
    pub reason: String,
}

/// Base addresses of GitHub's two APIs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// Base of all REST routes, without a slash at the end.
    pub rest: String,
    /// Base of the GraphQL API, to which `/graphql` is appended.
    pub graph: String,
}

/// Parses the base address. The token is sent there, so it must be HTTPS, or HTTP on loopback.
pub fn addresses(text: &str) -> Result<Addresses, AddressError> {
    let fail = |reason: &str| AddressError { url: text.to_owned(), reason: reason.to_owned() };
    let url = url::Url::parse(text).map_err(|error| fail(&error.to_string()))?;
    if url.host().is_none() {
        return Err(fail("it names no host"));
    }
    if url.scheme() != "https" && !(is_loopback(&url) && url.scheme() == "http") {
        return Err(fail("a token travels over HTTPS only"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(AddressError {
            url: "(an address with a password)".into(),
            reason: "the token is given apart from it".into(),
        });
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(fail("it has a query"));
    }
    let rest = url.as_str().trim_end_matches('/').to_owned();
    // GitHub Enterprise Server has its REST API at /api/v3 and GraphQL at /api/graphql.
    let graph =
        rest.strip_suffix("/api/v3").map_or_else(|| rest.clone(), |base| format!("{base}/api"));
    Ok(Addresses { rest, graph })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_foreign_leaves_its_segment() {
        let table: &[(&[&str], Option<&str>)] = &[
            (&["repos", "o", "r", "labels", "good first"], Some("/repos/o/r/labels/good%20first")),
            (
                &["c", "../../../labels?x=", "permission"],
                Some("/c/..%2F..%2F..%2Flabels%3Fx%3D/permission"),
            ),
            (&["c", ".."], None),
            (&["c", "."], None),
            (&["c", ""], None),
            (&["é#%"], Some("/%C3%A9%23%25")),
            (&["a\r\nX: y"], Some("/a%0D%0AX%3A%20y")),
        ];
        for (segments, expected) in table {
            assert_eq!(path(segments.iter().copied()).as_deref(), *expected, "{segments:?}");
        }
        assert_eq!(query(&[]), "");
        assert_eq!(query(&[("head", "o:a&b=c"), ("page", "2")]), "?head=o%3Aa%26b%3Dc&page=2");
    }

    #[test]
    fn a_token_goes_to_https_or_to_this_machine() {
        let good = [
            ("https://api.github.com", "https://api.github.com", "https://api.github.com"),
            (
                "https://ghe.example/api/v3/",
                "https://ghe.example/api/v3",
                "https://ghe.example/api",
            ),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("http://[::1]:8080/x", "http://[::1]:8080/x", "http://[::1]:8080/x"),
        ];
        for (text, rest, graph) in good {
            let expected = Addresses { rest: rest.into(), graph: graph.into() };
            assert_eq!(addresses(text), Ok(expected), "{text}");
        }
        for text in [
            "http://api.github.com",
            "http://127.0.0.1.example.com",
            "ftp://localhost",
            "api.github.com",
            "https://user:secret@api.github.com",
            "https://api.github.com?x=1",
        ] {
            let error = addresses(text).expect_err(text);
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }
}
