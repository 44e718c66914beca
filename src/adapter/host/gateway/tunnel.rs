//! Connections that a client opens by itself to one of a few hosts, with `CONNECT`.

use std::io;
use std::time::Duration;

use hyper::upgrade::OnUpgrade;
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::TcpStream;

/// Time for a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// Longest answer of the proxy of this machine, in bytes.
const HEAD: usize = 32 << 10;

/// Whether `HOST:PORT` is one of the hosts, on port 443.
pub fn is_open(hosts: &[&str], authority: &str) -> bool {
    let Some((host, "443")) = authority.rsplit_once(':') else { return false };
    let host = host.to_ascii_lowercase();
    hosts.iter().any(|known| host == *known || (known.starts_with('.') && host.ends_with(known)))
}

/// Connects to `HOST:PORT`, through the proxy of this machine if one is configured for it.
pub async fn connect(authority: &str) -> io::Result<TcpStream> {
    tokio::time::timeout(CONNECT, connect_through_proxy(authority)).await?
}

/// Copies both ways once the client's side is there.
pub async fn copy(client: OnUpgrade, mut server: TcpStream) {
    let Ok(client) = client.await else { return };
    if let Err(error) = copy_bidirectional(&mut TokioIo::new(client), &mut server).await {
        tracing::debug!(%error, "a tunnel of a client ended");
    }
}

async fn connect_through_proxy(authority: &str) -> io::Result<TcpStream> {
    let uri = format!("https://{authority}/").parse().map_err(io::Error::other)?;
    let Some(outer) = Matcher::from_env().intercept(&uri) else {
        return TcpStream::connect(authority).await;
    };
    let proxy = outer.uri();
    if proxy.scheme_str() != Some("http") {
        return Err(io::Error::other("only proxies with http:// addresses are supported"));
    }
    let address = (proxy.host().unwrap_or_default(), proxy.port_u16().unwrap_or(80));
    let mut stream = TcpStream::connect(address).await?;
    let mut request = format!("CONNECT {authority} HTTP/1.1\r\nhost: {authority}\r\n");
    if let Some(credentials) = outer.basic_auth().and_then(|value| value.to_str().ok()) {
        request += &format!("proxy-authorization: {credentials}\r\n");
    }
    stream.write_all(format!("{request}\r\n").as_bytes()).await?;
    let head = read_head(&mut stream).await?;
    let status = std::str::from_utf8(&head).ok().and_then(|head| head.split(' ').nth(1));
    if status != Some("200") {
        return Err(io::Error::other("the proxy of this machine refuses the connection"));
    }
    Ok(stream)
}

/// Reads up to the empty line.
async fn read_head(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    // One byte at a time: what follows the head belongs to the tunnel.
    while head.len() < HEAD && !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    Ok(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_named_hosts_are_open() {
        let hosts = ["api.example.com", ".more.test"];
        let table = [
            ("api.example.com:443", true),
            ("API.example.com:443", true),
            ("api.example.com:80", false),
            ("api.example.com", false),
            ("evil.api.example.com:443", false),
            ("api.example.com.evil.net:443", false),
            ("eu.more.test:443", true),
            ("more.test:443", false),
            ("evilmore.test:443", false),
            ("", false),
        ];
        for (authority, expected) in table {
            assert_eq!(is_open(&hosts, authority), expected, "{authority}");
        }
    }
}
