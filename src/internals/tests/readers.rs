//! Checks that no untrusted text makes a parser panic: a fast counterpart of the fuzz targets.

use std::path::{Path, PathBuf};

use crate::internals::parsers;

/// Texts known to break parsers.
const NASTY: &[&str] = &[
    "",
    "\u{feff}",
    "\0",
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    "{\"a\":{\"a\":{\"a\":{\"a\":",
    "<a><a><a><a><a>",
    "<!DOCTYPE a [<!ENTITY b \"&b;&b;\">]><a>&b;</a>",
    "a:\n- b\n -c: &x [*x]",
    "ok 1 - \u{1b}[31m\r\nnot ok 2",
    "test a ... FAILED\n---- a stdout ----\n",
    "File \"é\", line 99999999999999999999, in ü",
    "\u{1e}\u{1e}",
    "99999999999999999999999999999999999999999",
    "../../../etc/passwd",
];

fn recorded(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            recorded(&path, found);
        } else if path.metadata().unwrap().len() < 20_000 {
            found.push(path);
        }
    }
}

/// A small deterministic random number generator (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % (limit.max(1) as u64)).unwrap()
    }
}

/// Corrupts the input: cuts, duplicates, swaps and overwrites bytes.
fn spoiled(bytes: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    let mut changed = bytes.to_vec();
    for _ in 0..=numbers.below(4) {
        let at = numbers.below(changed.len());
        match numbers.below(5) {
            0 => changed.truncate(at),
            1 => changed.insert(at.min(changed.len()), u8::try_from(numbers.below(256)).unwrap()),
            2 if !changed.is_empty() => changed[at] ^= 1 << numbers.below(8),
            3 => changed.extend_from_within(at..),
            _ => {
                let end = (at + numbers.below(40)).min(changed.len());
                changed.drain(at..end);
            }
        }
        changed.truncate(60_000);
    }
    changed
}

#[test]
fn no_text_makes_a_reader_panic() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    recorded(&root.join("tests/data/reports"), &mut files);
    recorded(&root.join("tests/data/state"), &mut files);
    files.sort();
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    for name in parsers::names() {
        for text in NASTY {
            parsers::read(name, text.as_bytes());
        }
        for _ in 0..60 {
            let path = &files[numbers.below(files.len())];
            let bytes = std::fs::read(path).unwrap();
            parsers::read(name, &spoiled(&bytes, &mut numbers));
        }
    }
}

#[test]
fn every_reader_has_a_fuzz_target() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/fuzz_targets");
    let mut targets: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().replace('_', "-"))
        .collect();
    targets.sort();
    let mut names = parsers::names();
    names.sort_unstable();
    assert_eq!(targets, names);
}
