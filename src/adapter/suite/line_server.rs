//! A long-lived child process that answers requests as JSON lines.

use std::io;
use std::process::Stdio;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout};

use crate::adapter::host::process::{Group, Invocation};
use crate::adapter::suite::format::parse_json;

/// A child and its two pipes. Dropping it kills its process group.
pub struct LineServer {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    _group: Group,
}

impl LineServer {
    /// Starts the child.
    pub fn start(invocation: &Invocation) -> io::Result<Self> {
        let mut group = Group::start(invocation, Stdio::piped(), Stdio::piped(), Stdio::null())?;
        let missing = || io::Error::other("the child has no pipes");
        let input = group.child().stdin.take().ok_or_else(missing)?;
        let output = group.child().stdout.take().ok_or_else(missing)?;
        Ok(Self { input, output: BufReader::new(output), _group: group })
    }

    /// Writes one request.
    pub async fn send(&mut self, request: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(request)?;
        line.push(b'\n');
        self.input.write_all(&line).await?;
        self.input.flush().await
    }

    /// Reads one answer; `None` at the end of the stream.
    pub async fn receive<T: DeserializeOwned>(&mut self, limit: Duration) -> io::Result<Option<T>> {
        let mut line = Vec::new();
        let read = self.output.read_until(b'\n', &mut line);
        let count = tokio::time::timeout(limit, read)
            .await
            .map_err(|_elapsed| io::Error::new(io::ErrorKind::TimedOut, "no answer"))??;
        if count == 0 {
            return Ok(None);
        }
        Ok(Some(parse_json(&String::from_utf8_lossy(&line))?))
    }
}
