//! Checks the inflated sizes of an untrusted pack: the declared sizes of objects, and the results
//! of deltas, which expand a few bytes of copy instructions to gigabytes. libgit2 opens a pack only
//! if each object and all of them together are within bounds.
//!
//! Source: specification.md 4.14 (limits of a bundle), git's `gitformat-pack`.

use flate2::{Decompress, FlushDecompress, Status};

/// Limits of the inflated objects of a pack, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// One object, also after its delta is applied.
    pub object: u64,
    pub all: u64,
}

/// Why a pack is rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PackFault {
    #[error("object {number} of the pack comes to {bytes} bytes")]
    Object { number: u32, bytes: u64 },
    #[error("the objects of the pack come to more than {bytes} bytes together")]
    All { bytes: u64 },
    /// It is not a pack, or it is truncated.
    #[error("object {number} of the pack is {what}")]
    Broken {
        /// Number of the object, from 1; 0 is the header of the pack.
        number: u32,
        what: &'static str,
    },
}

const HEAD: usize = 12;
const DIGEST: usize = 20;

/// Types of delta entries, which name a base object.
const BY_OFFSET: u8 = 6;
const BY_NAME: u8 = 7;

/// Bytes inflated at once; only the first bytes of a delta are kept.
const PIECE: usize = 32 << 10;

/// Longest start of a delta: two numbers of at most ten bytes precede its instructions.
const PREFACE: usize = 20;

/// Checks every entry of a pack, in time proportional to the inflated entries, which are within the
/// bounds too, and in constant memory.
/// Fails at the first entry that is out of bounds.
pub fn check_limits(pack: &[u8], bounds: Bounds) -> Result<(), PackFault> {
    let broken = |number, what| PackFault::Broken { number, what };
    let count = object_count(pack).ok_or(broken(0, "not the head of one"))?;
    let end = pack.len().checked_sub(DIGEST).filter(|end| *end >= HEAD);
    let end = end.ok_or(broken(0, "cut"))?;
    let body = pack.get(HEAD..end).unwrap_or_default();
    let (mut at, mut all) = (0, 0_u64);
    let mut piece = vec![0; PIECE];
    for number in 1..=count {
        let rest = body.get(at..).unwrap_or_default();
        let head = head(rest).ok_or(broken(number, "cut"))?;
        if head.size > bounds.object {
            return Err(PackFault::Object { number, bytes: head.size });
        }
        let stream = rest.get(head.length..).unwrap_or_default();
        let (used, preface) = inflate(stream, head.size, &mut piece)
            .ok_or(broken(number, "not as large as it says, or damaged"))?;
        let bytes = if head.is_delta {
            let (_, skip) = number_of(&preface).ok_or(broken(number, "no delta"))?;
            let after = preface.get(skip..).unwrap_or_default();
            number_of(after).ok_or(broken(number, "no delta"))?.0
        } else {
            head.size
        };
        if bytes > bounds.object {
            return Err(PackFault::Object { number, bytes });
        }
        all = all.saturating_add(bytes);
        if all > bounds.all {
            return Err(PackFault::All { bytes: bounds.all });
        }
        at += head.length + used;
    }
    if at == body.len() { Ok(()) } else { Err(broken(count, "not the last one")) }
}

/// The object count in the header of a pack; `None` when the header is invalid.
pub fn object_count(pack: &[u8]) -> Option<u32> {
    match pack.get(..HEAD)? {
        [b'P', b'A', b'C', b'K', 0, 0, 0, 2, count @ ..] => {
            Some(u32::from_be_bytes(count.try_into().ok()?))
        }
        _ => None,
    }
}

struct Head {
    length: usize,
    /// Inflated size of the stream, in bytes.
    size: u64,
    is_delta: bool,
}

fn head(bytes: &[u8]) -> Option<Head> {
    let first = *bytes.first()?;
    let kind = first >> 4 & 7;
    let (mut length, mut shift) = (1, 4_u32);
    let mut size = u64::from(first & 15);
    let mut more = first & 0x80 != 0;
    while more {
        let byte = *bytes.get(length)?;
        size |= shifted(byte & 0x7f, shift)?;
        (length, shift, more) = (length + 1, shift + 7, byte & 0x80 != 0);
    }
    if kind == BY_NAME {
        length += DIGEST;
    } else if kind == BY_OFFSET {
        while *bytes.get(length)? & 0x80 != 0 {
            length += 1;
        }
        length += 1;
    }
    Some(Head { length, size, is_delta: kind == BY_NAME || kind == BY_OFFSET })
}

/// Shifts seven bits into place; `None` on overflow.
fn shifted(bits: u8, shift: u32) -> Option<u64> {
    let value = u64::from(bits).checked_shl(shift)?;
    (value >> shift == u64::from(bits)).then_some(value)
}

/// A variable-length number in a delta, and how many bytes it takes.
fn number_of(bytes: &[u8]) -> Option<(u64, usize)> {
    let (mut value, mut shift) = (0, 0_u32);
    for (index, byte) in bytes.iter().enumerate() {
        value |= shifted(byte & 0x7f, shift)?;
        shift += 7;
        if byte & 0x80 == 0 {
            return Some((value, index + 1));
        }
    }
    None
}

/// Inflates exactly `size` bytes; returns compressed length and first bytes, if it is valid.
fn inflate(stream: &[u8], size: u64, piece: &mut [u8]) -> Option<(usize, Vec<u8>)> {
    let mut inflater = Decompress::new(true);
    let mut preface = Vec::new();
    loop {
        let (read, wrote) = (inflater.total_in(), inflater.total_out());
        let from = usize::try_from(read).ok()?;
        let status = inflater.decompress(stream.get(from..)?, piece, FlushDecompress::None).ok()?;
        let new = usize::try_from(inflater.total_out() - wrote).ok()?;
        let missing = PREFACE.saturating_sub(preface.len()).min(new);
        preface.extend_from_slice(piece.get(..missing)?);
        if inflater.total_out() > size {
            return None;
        }
        if status == Status::StreamEnd {
            let used = usize::try_from(inflater.total_in()).ok()?;
            return (inflater.total_out() == size).then_some((used, preface));
        }
        if new == 0 && inflater.total_in() == read {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::ZlibEncoder;
    use proptest::prelude::*;

    const BOUNDS: Bounds = Bounds { object: 1000, all: 2500 };

    fn compressed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn varint(mut value: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        loop {
            let low = u8::try_from(value & 0x7f).unwrap();
            value >>= 7;
            bytes.push(if value == 0 { low } else { low | 0x80 });
            if value == 0 {
                return bytes;
            }
        }
    }

    /// An entry that declares `size` and holds `bytes`.
    fn entry(kind: u8, size: u64, base: &[u8], bytes: &[u8]) -> Vec<u8> {
        let low = u8::try_from(size & 15).unwrap();
        let mut entry = vec![kind << 4 | low];
        if size > 15 {
            entry[0] |= 0x80;
            entry.extend(varint(size >> 4));
        }
        entry.extend(base);
        entry.extend(compressed(bytes));
        entry
    }

    fn pack(entries: &[Vec<u8>]) -> Vec<u8> {
        let count = u32::try_from(entries.len()).unwrap();
        let mut pack = [b"PACK\0\0\0\x02".as_slice(), &count.to_be_bytes()].concat();
        pack.extend(entries.concat());
        pack.extend([0; DIGEST]);
        pack
    }

    fn blob(size: usize) -> Vec<u8> {
        entry(3, size as u64, &[], &vec![b'a'; size])
    }

    /// A delta of a few bytes that expands to `size` bytes.
    fn delta(kind: u8, base: &[u8], size: u64) -> Vec<u8> {
        let copy_all = [0xb0, 0xff, 0xff];
        let bytes = [varint(1000), varint(size), copy_all.to_vec()].concat();
        entry(kind, bytes.len() as u64, base, &bytes)
    }

    #[test]
    fn sizes_are_known_before_anything_is_made() {
        let broken = |number, what| Err(PackFault::Broken { number, what });
        let lie = "not as large as it says, or damaged";
        let object = |number, bytes| Err(PackFault::Object { number, bytes });
        let mut cut = pack(&[blob(10)]);
        cut.drain(20..25);
        let table = [
            ("an empty one", pack(&[]), Ok(())),
            ("two blobs", pack(&[blob(0), blob(1000)]), Ok(())),
            ("a delta", pack(&[blob(1000), delta(BY_OFFSET, &[5], 1000)]), Ok(())),
            ("a far delta", pack(&[blob(9), delta(BY_OFFSET, &[0x80, 5], 9)]), Ok(())),
            ("a delta by name", pack(&[delta(BY_NAME, &[7; 20], 3)]), Ok(())),
            ("too large a blob", pack(&[blob(1001)]), object(1, 1001)),
            ("a bomb", pack(&[blob(9), delta(BY_OFFSET, &[5], 1 << 40)]), object(2, 1 << 40)),
            ("a bomb by name", pack(&[delta(BY_NAME, &[7; 20], 1001)]), object(1, 1001)),
            (
                "many",
                pack(&[blob(1000), blob(1000), blob(501)]),
                Err(PackFault::All { bytes: 2500 }),
            ),
            ("more than it says", pack(&[entry(3, 10, &[], &[b'a'; 900])]), broken(1, lie)),
            ("less than it says", pack(&[entry(3, 10, &[], b"a")]), broken(1, lie)),
            ("no numbers", pack(&[entry(BY_NAME, 1, &[7; 20], &[0x80])]), broken(1, "no delta")),
            ("a number without end", pack(&[vec![0xff; 12]]), broken(1, "cut")),
            ("cut", cut, broken(1, lie)),
            ("no pack", b"PICK".to_vec(), broken(0, "not the head of one")),
        ];
        for (why, pack, expected) in table {
            assert_eq!(check_limits(&pack, BOUNDS), expected, "{why}");
        }
        let mut behind = pack(&[blob(9), blob(9)]);
        behind[11] = 1;
        assert_eq!(check_limits(&behind, BOUNDS), broken(1, "not the last one"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..300), count in 0u8..4) {
            let mut pack = [b"PACK\0\0\0\x02\0\0\0".as_slice(), &[count]].concat();
            pack.extend(&bytes);
            let _answer = check_limits(&pack, BOUNDS);
            let _answer = check_limits(&bytes, BOUNDS);
        }
    }
}
