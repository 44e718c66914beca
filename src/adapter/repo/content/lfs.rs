//! Pointers of Git LFS, and the objects to which they point.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

/// A pointer is smaller than this, in bytes (git-lfs, docs/spec.md).
const POINTER_LIMIT: usize = 1024;

/// Bytes that are read at a time.
const BUFFER: usize = 1 << 16;

const VERSION: &str = "version https://git-lfs.github.com/spec/v1\n";

/// The content for which a pointer stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pointer {
    /// Its SHA-256, in lower-case hex.
    oid: String,
    pub size: u64,
}

impl Pointer {
    /// Reads a pointer; `None` for any other content, and for one that programs of the user extend.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok().filter(|text| text.len() < POINTER_LIMIT)?;
        let mut lines = text.strip_prefix(VERSION)?.lines();
        let oid = lines.next()?.strip_prefix("oid sha256:")?;
        let size = lines.next()?.strip_prefix("size ")?.parse().ok()?;
        let is_hash =
            oid.len() == 64 && oid.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        is_hash.then(|| Self { oid: oid.to_owned(), size })
    }

    /// Where a repository keeps the content.
    pub fn object(&self, common: &Path) -> PathBuf {
        let (first, second) = (self.oid.get(..2), self.oid.get(2..4));
        let folder = common.join("lfs/objects").join(first.unwrap_or_default());
        folder.join(second.unwrap_or_default()).join(&self.oid)
    }

    /// Whether a file holds the content.
    pub fn is_content_of(&self, file: &Path) -> bool {
        let hash = || -> io::Result<String> {
            let (mut hash, mut file) = (Sha256::new(), File::open(file)?);
            let mut buffer = vec![0; BUFFER];
            loop {
                match file.read(&mut buffer)? {
                    0 => break,
                    length => hash.update(buffer.get(..length).unwrap_or_default()),
                }
            }
            Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
        };
        hash().is_ok_and(|hash| hash == self.oid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_is_read_and_nothing_else_is_one() {
        let oid = "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393";
        let pointer = format!("{VERSION}oid sha256:{oid}\nsize 12345\n");
        assert_eq!(
            Pointer::parse(pointer.as_bytes()),
            Some(Pointer { oid: oid.into(), size: 12345 })
        );
        let others = [
            String::new(),
            pointer.replace("spec/v1", "spec/v2"),
            pointer.replace("sha256", "sha1"),
            pointer.replace("4d7a", "../."),
            pointer.replace("size 12345", "size -1"),
            pointer.replace("oid", "ext-0-foo sha256:00\noid"),
            format!("{pointer}{}", "x".repeat(POINTER_LIMIT)),
        ];
        for other in others {
            assert_eq!(Pointer::parse(other.as_bytes()), None, "{other}");
        }
    }
}
