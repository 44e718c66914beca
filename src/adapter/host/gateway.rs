//! A forward proxy on loopback through which a client of a model reaches its provider and no other
//! host. The sandbox lets the client connect to nothing else.

use std::collections::BTreeSet;
use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hyper_util::client::proxy::matcher::Matcher;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};
use url::{Position, Url};

/// Longest head of a request, in bytes.
const HEAD: usize = 32 << 10;

/// Time for the head of a request, and for a connection to the provider.
const PATIENCE: Duration = Duration::from_secs(10);

/// Hosts in the record of refusals at most.
const REFUSALS: usize = 20;

/// The hosts that a client may reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reachable(Vec<(String, u16)>);

impl Reachable {
    /// The host of a base URL, and `more` hosts on port 443; one that begins with a dot stands for
    /// all of its subdomains. `None` for a URL without a host.
    pub fn new(base_url: &str, more: &[&str]) -> Option<Self> {
        let own = host_and_port(&Url::parse(base_url).ok()?)?;
        let more = more.iter().map(|host| ((*host).to_owned(), 443));
        Some(Self(std::iter::once(own).chain(more).collect()))
    }

    fn contains(&self, host: &str, port: u16) -> bool {
        self.0.iter().any(|(known, known_port)| {
            let is_below = known.starts_with('.') && host.ends_with(known.as_str());
            port == *known_port && (host == known || is_below)
        })
    }
}

/// Host in lower case, without the brackets of IPv6, and port.
fn host_and_port(url: &Url) -> Option<(String, u16)> {
    let host = url.host_str()?.trim_matches(['[', ']']).to_ascii_lowercase();
    Some((host, url.port_or_known_default()?))
}

/// A running proxy; dropping it closes all of its connections.
pub struct Gateway {
    port: u16,
    refused: Arc<Mutex<BTreeSet<String>>>,
    task: JoinHandle<()>,
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Gateway {
    /// Listens on a free port of loopback.
    pub async fn start(reachable: Reachable) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        let refused = Arc::new(Mutex::new(BTreeSet::new()));
        let record = Arc::clone(&refused);
        let task = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let Ok((stream, _)) = listener.accept().await else {
                    // Too many open files, for instance; that passes.
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    continue;
                };
                let (reachable, record) = (reachable.clone(), Arc::clone(&record));
                connections.spawn(async move {
                    if let Err(error) = serve(stream, &reachable, &record).await {
                        tracing::debug!(%error, "a connection of a client ended");
                    }
                });
                while connections.try_join_next().is_some() {}
            }
        });
        Ok(Self { port, refused, task })
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The variables that make programs use this proxy for every host.
    pub fn variables(&self) -> impl Iterator<Item = (String, String)> {
        let url = format!("http://127.0.0.1:{}", self.port);
        let proxies =
            ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"].into_iter().flat_map(move |name| {
                [(name.to_owned(), url.clone()), (name.to_ascii_lowercase(), url.clone())]
            });
        let none = ["NO_PROXY", "no_proxy"].map(|name| (name.to_owned(), String::new()));
        // Node.js itself reads the variables from version 22.21 on, and only when asked.
        proxies.chain(none).chain([("NODE_USE_ENV_PROXY".to_owned(), "1".to_owned())])
    }

    /// The hosts that were asked for in vain.
    pub fn refused(&self) -> Vec<String> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

/// The first request of a connection. Whatever else comes on it goes to the same host.
struct ProxyRequest {
    host: String,
    port: u16,
    /// What the host gets before everything else; empty for `CONNECT`.
    forward: Vec<u8>,
}

async fn serve(
    mut client: TcpStream,
    reachable: &Reachable,
    refused: &Mutex<BTreeSet<String>>,
) -> io::Result<()> {
    let head = tokio::time::timeout(PATIENCE, read_head(&mut client)).await??;
    let Some(request) = parse(&head) else {
        return client.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").await;
    };
    if !reachable.contains(&request.host, request.port) {
        note(refused, &request);
        return client.write_all(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n").await;
    }
    let connected = tokio::time::timeout(PATIENCE, connect(&request.host, request.port)).await;
    let Ok(Ok(mut server)) = connected else {
        return client.write_all(b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n").await;
    };
    if request.forward.is_empty() {
        client.write_all(b"HTTP/1.1 200 Connection Established\r\n\r\n").await?;
    } else {
        server.write_all(&request.forward).await?;
    }
    copy_bidirectional(&mut client, &mut server).await?;
    Ok(())
}

fn note(refused: &Mutex<BTreeSet<String>>, request: &ProxyRequest) {
    let mut refused = refused.lock().unwrap_or_else(PoisonError::into_inner);
    if refused.len() < REFUSALS {
        refused.insert(format!("{}:{}", request.host, request.port));
    }
}

/// Reads up to the empty line, and what came with it.
async fn read_head(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let mut buffer = [0; 4 << 10];
    while head.len() < HEAD && !head.windows(4).any(|bytes| bytes == b"\r\n\r\n") {
        let count = stream.read(&mut buffer).await?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        head.extend_from_slice(buffer.get(..count).unwrap_or_default());
    }
    Ok(head)
}

/// Parses `CONNECT host:port` and `METHOD http://host/path`.
fn parse(bytes: &[u8]) -> Option<ProxyRequest> {
    let end = bytes.windows(4).position(|bytes| bytes == b"\r\n\r\n")? + 4;
    let (head, rest) = bytes.split_at_checked(end)?;
    let head = std::str::from_utf8(head).ok()?;
    let (first, fields) = head.split_once("\r\n")?;
    let [method, target, version] = first.split(' ').collect::<Vec<_>>()[..] else { return None };
    if method == "CONNECT" {
        let (host, port) = host_and_port(&Url::parse(&format!("https://{target}")).ok()?)?;
        return Some(ProxyRequest { host, port, forward: Vec::new() });
    }
    let url = Url::parse(target).ok().filter(|url| url.scheme() == "http")?;
    let (host, port) = host_and_port(&url)?;
    let mut forward = format!("{method} {} {version}\r\n", &url[Position::BeforePath..]);
    let own = |field: &&str| {
        let field = field.to_ascii_lowercase();
        !field.starts_with("proxy-") && !field.starts_with("connection:")
    };
    for field in fields.split("\r\n").filter(|field| !field.is_empty()).filter(own) {
        forward += field;
        forward += "\r\n";
    }
    // A second request on this connection would name its host again, which few servers expect.
    let forward = [forward.as_bytes(), b"connection: close\r\n\r\n", rest].concat();
    Some(ProxyRequest { host, port, forward })
}

/// Connects to a host, through the proxy of this machine if one is configured for it.
async fn connect(host: &str, port: u16) -> io::Result<TcpStream> {
    let is_loopback = host == "localhost"
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    let authority = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    let uri = format!("https://{authority}:{port}/").parse().map_err(io::Error::other)?;
    let outer = Matcher::from_env().intercept(&uri).filter(|_| !is_loopback);
    let Some(outer) = outer else { return TcpStream::connect((host, port)).await };
    let proxy = outer.uri();
    if proxy.scheme_str() != Some("http") {
        return Err(io::Error::other("only proxies with http:// addresses are supported"));
    }
    let address = (proxy.host().unwrap_or_default(), proxy.port_u16().unwrap_or(80));
    let mut stream = TcpStream::connect(address).await?;
    let mut request =
        format!("CONNECT {authority}:{port} HTTP/1.1\r\nhost: {authority}:{port}\r\n");
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_host_of_the_provider_is_reachable() {
        let table = [
            ("https://api.example.com/v1", "api.example.com", 443, true),
            ("https://api.example.com/v1", "api.example.com", 80, false),
            ("https://api.example.com/v1", "evil.api.example.com", 443, false),
            ("https://api.example.com/v1", "api.example.com.evil.net", 443, false),
            ("http://127.0.0.1:8080", "127.0.0.1", 8080, true),
            ("http://[::1]:8080/x", "::1", 8080, true),
            ("http://127.0.0.1:8080", "127.0.0.1", 22, false),
            ("https://api.example.com", "eu.more.test", 443, true),
            ("https://api.example.com", "more.test", 443, false),
            ("https://api.example.com", "evilmore.test", 443, false),
        ];
        for (base, host, port, expected) in table {
            let reachable = Reachable::new(base, &[".more.test"]).unwrap();
            assert_eq!(reachable.contains(host, port), expected, "{base} {host}:{port}");
        }
        assert_eq!(Reachable::new("nonsense", &[]), None);
    }

    #[test]
    fn both_forms_of_a_proxy_request_are_parsed() {
        let connect = parse(b"CONNECT API.example.com:443 HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
        assert_eq!((connect.host.as_str(), connect.port), ("api.example.com", 443));
        assert!(connect.forward.is_empty());
        let request = b"POST http://127.0.0.1:81/a?b HTTP/1.1\r\nHost: h\r\nProxy-Connection: keep-alive\r\nConnection: x\r\n\r\nbody";
        let plain = parse(request).unwrap();
        assert_eq!((plain.host.as_str(), plain.port), ("127.0.0.1", 81));
        assert_eq!(
            plain.forward,
            b"POST /a?b HTTP/1.1\r\nHost: h\r\nconnection: close\r\n\r\nbody"
        );
        for bad in [
            "GET / HTTP/1.1\r\n\r\n",
            "GET http://x/ HTTP/1.1\r\n",
            "\r\n\r\n",
            "CONNECT x:y HTTP/1.1\r\n\r\n",
        ] {
            assert!(parse(bad.as_bytes()).is_none(), "{bad}");
        }
    }

    /// Sends one request through a gateway and returns the response.
    async fn send(gateway: &Gateway, request: &str) -> String {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, gateway.port())).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        text
    }

    #[tokio::test]
    async fn requests_reach_the_provider_and_others_are_refused_and_recorded() {
        let server = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = server.local_addr().unwrap().port();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = server.accept().await {
                let head = read_head(&mut stream).await.unwrap();
                let first = String::from_utf8(head).unwrap();
                let first = first.lines().next().unwrap_or_default();
                stream
                    .write_all(format!("HTTP/1.1 200 OK\r\n\r\n{first}").as_bytes())
                    .await
                    .unwrap();
            }
        });
        let base = format!("http://127.0.0.1:{port}/v1");
        let gateway = Gateway::start(Reachable::new(&base, &[]).unwrap()).await.unwrap();
        let plain = send(&gateway, &format!("GET {base}/x HTTP/1.1\r\n\r\n")).await;
        assert!(plain.ends_with("\r\n\r\nGET /v1/x HTTP/1.1"), "{plain}");
        let tunnel = format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n");
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, gateway.port())).await.unwrap();
        stream.write_all(tunnel.as_bytes()).await.unwrap();
        let answer = read_head(&mut stream).await.unwrap();
        assert!(answer.starts_with(b"HTTP/1.1 200 "));
        stream.write_all(b"GET /inside HTTP/1.1\r\n\r\n").await.unwrap();
        let mut inside = String::new();
        stream.read_to_string(&mut inside).await.unwrap();
        assert!(inside.ends_with("GET /inside HTTP/1.1"), "{inside}");
        let refused = send(&gateway, "CONNECT evil.example:443 HTTP/1.1\r\n\r\n").await;
        assert!(refused.starts_with("HTTP/1.1 403 "), "{refused}");
        assert_eq!(gateway.refused(), ["evil.example:443"]);
        assert!(send(&gateway, "nonsense\r\n\r\n").await.starts_with("HTTP/1.1 400 "));
    }
}
