//! Pages over real sockets.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;

use countersign_mcp_http::page::{Pages, Site};

struct One;

impl Pages for One {
    fn page(&self, path: &str) -> Option<String> {
        assert_ne!(path, "/panics");
        (path == "/one").then(|| "<p>one</p>".to_owned())
    }
}

/// What a request is answered with, as it comes.
fn asked(site: &Site, request: &str) -> String {
    let mut stream = TcpStream::connect(site.address()).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn got(site: &Site, method: &str, path: &str, host: &str) -> String {
    asked(
        site,
        &format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"),
    )
}

#[test]
fn a_page_can_do_nothing() {
    let site = Site::open(Arc::new(One)).unwrap();
    assert!(site.address().ip().is_loopback());
    let own = site.address().to_string();
    let answer = got(&site, "GET", "/one?x=1", &own);
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.ends_with("\r\n\r\n<p>one</p>"), "{answer}");
    for header in [
        "content-type: text/html; charset=utf-8",
        "content-security-policy: default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        "referrer-policy: no-referrer",
        "cache-control: no-store",
        "x-content-type-options: nosniff",
        "cross-origin-resource-policy: same-origin",
    ] {
        assert!(answer.contains(&format!("\r\n{header}\r\n")), "{answer}");
    }
    let head = got(&site, "HEAD", "/one", &own);
    assert!(head.contains("\r\ncontent-length: 10\r\n"), "{head}");
    assert!(head.ends_with("\r\n\r\n"), "{head}");
    // One request a connection.
    let two = format!("GET /one HTTP/1.1\r\nHost: {own}\r\n\r\n").repeat(2);
    assert_eq!(asked(&site, &two).matches("HTTP/1.1 ").count(), 1);
}

#[test]
fn who_comes_otherwise_sees_nothing() {
    let site = Site::open(Arc::new(One)).unwrap();
    let own = site.address().to_string();
    for (method, path, host, status) in [
        ("GET", "/two", own.as_str(), "404"),
        ("GET", "/panics", &own, "500"),
        ("POST", "/one", &own, "405"),
        ("DELETE", "/one", &own, "405"),
        ("OPTIONS", "/one", &own, "405"),
        ("GET", "/one", "127.0.0.1", "403"),
        ("GET", "/one", "evil.example", "403"),
        ("GET", "http://evil.example/one", &own, "403"),
    ] {
        let answer = got(&site, method, path, host);
        let line = format!("HTTP/1.1 {status} ");
        assert!(
            answer.starts_with(&line),
            "{method} {path} {host}: {answer}"
        );
        assert!(!answer.contains("<p>"), "{answer}");
    }
    let long = format!("/{}", "x".repeat(300));
    assert!(got(&site, "GET", &long, &own).starts_with("HTTP/1.1 404 "));
    let origin = format!("GET /one HTTP/1.1\r\nHost: {own}\r\nOrigin: http://evil.example\r\n\r\n");
    assert!(asked(&site, &origin).starts_with("HTTP/1.1 403 "));
    let header = format!(
        "GET /one HTTP/1.1\r\nHost: {own}\r\nX: {}\r\n\r\n",
        "x".repeat(15_000)
    );
    assert!(asked(&site, &header).starts_with("HTTP/1.1 200 "));
}

#[test]
fn others_are_answered_while_some_say_nothing() {
    let site = Site::open(Arc::new(One)).unwrap();
    let own = site.address().to_string();
    let silent: Vec<_> = (0..8)
        .map(|_| TcpStream::connect(site.address()).unwrap())
        .collect();
    assert!(got(&site, "GET", "/one", &own).starts_with("HTTP/1.1 200 "));
    drop(silent);
}
