//! Logs that hold foreign text: what a server, a tool or a test printed gives no orders to whoever reads.

use std::io::{self, Write};

use crate::adapter::host::redaction;
use crate::report::runner_commands::neutralise_commands;

/// Writes log events on one line each, without secrets, control characters or commands.
pub struct NeutralisingWriter<W>(pub W);

impl<W: Write> Write for NeutralisingWriter<W> {
    /// Takes one whole event per call, which is how the formatter writes.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        let text = redaction::redact(text.trim_end());
        writeln!(self.0, "{}", neutralise_commands(&text))?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_with_foreign_words_is_one_line_without_orders() {
        let mut out = Vec::new();
        let event =
            b"WARN regreen::bot: refused error=\"no\n::add-mask::a\r\n##[error]x\x1b[31m\"\n";
        assert_eq!(NeutralisingWriter(&mut out).write(event).unwrap(), event.len());
        let line = String::from_utf8(out).unwrap();
        assert_eq!(line.lines().count(), 1, "{line}");
        assert!(
            !line.contains("##[") && !line.contains(" ::") && !line.contains('\u{1b}'),
            "{line}"
        );
        assert!(line.starts_with("WARN regreen::bot: refused"), "{line}");
    }
}
