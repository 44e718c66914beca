//! Random words that cannot be guessed.

use std::io;

/// A random token of 32 hexadecimal digits.
pub fn word() -> io::Result<String> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
