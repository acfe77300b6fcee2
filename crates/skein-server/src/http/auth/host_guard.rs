//! Answers only to its own names and pages, so that a web page elsewhere cannot reach a server on this machine.
//!
//! A hostile page can make its own name resolve to 127.0.0.1 (DNS rebinding); its requests then carry that name as
//! their host. A page of another site carries its own origin. Both are refused before anything is read.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use axum::extract::Request;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};

use crate::http::auth::authentication::SESSION_COOKIE;
use crate::http::error::ApiError;

const HTTP_PORT: u16 = 80;
const HTTPS_PORT: u16 = 443;
/// In which a browser says whose page asked.
pub(crate) const FETCH_SITE: &str = "sec-fetch-site";

/// The names a server answers to.
#[derive(Debug, Clone)]
pub struct AllowedHosts {
    listening: SocketAddr,
    /// Its address as clients spell it who were told it, which most were.
    spelled: String,
    named: Vec<String>,
}

impl AllowedHosts {
    /// The address it listens on and this machine's own names for it; `named` are further ones, `name` or `name:port`.
    pub fn new(listening: SocketAddr, named: Vec<String>) -> Self {
        Self { listening, spelled: listening.to_string(), named }
    }

    /// Whether only programs on this machine reach the server. One that forwards to it decides for itself what it lets through.
    pub(crate) fn are_on_loopback(&self) -> bool {
        self.listening.ip().to_canonical().is_loopback()
    }

    /// Refuses a request to another name or from another page.
    pub(crate) fn admit(&self, request: &Request) -> Result<(), ApiError> {
        fn text(value: &HeaderValue) -> &str {
            value.to_str().unwrap_or_default()
        }
        let authority = request.uri().authority().map(Authority::as_str);
        let mut targets = request.headers().get_all(header::HOST).iter().map(text).chain(authority).peekable();
        let is_named = targets.peek().is_some();
        if !is_named || !targets.all(|target| self.allows(target, HTTP_PORT)) {
            let message = "this server does not answer to that host name; use the address it printed \
                           at start, or allow the name with --allow-host";
            return Err(ApiError::new(StatusCode::MISDIRECTED_REQUEST, "host_not_allowed", message));
        }
        let mut origins = request.headers().get_all(header::ORIGIN).iter().map(text);
        if !origins.all(|origin| self.allows_origin(origin)) {
            let message = "pages of other sites may not use this server";
            return Err(ApiError::new(StatusCode::FORBIDDEN, "origin_not_allowed", message));
        }
        if is_signed_in(request) && is_from_elsewhere(request.headers()) {
            let message = "a page of another site led here; open this server's address by itself";
            return Err(ApiError::new(StatusCode::FORBIDDEN, "origin_not_allowed", message));
        }
        Ok(())
    }

    fn allows(&self, authority: &str, default_port: u16) -> bool {
        if authority == self.spelled {
            return true;
        }
        let Some((host, given_port)) = split(authority) else { return false };
        let port = given_port.unwrap_or(default_port);
        let is_own = port == self.listening.port() && self.is_own_host(&host);
        is_own || self.named.iter().any(|name| is_named(name, &host, given_port))
    }

    fn is_own_host(&self, host: &str) -> bool {
        let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        match address {
            Ok(address) => {
                // An address cannot be rebound, and a server on all of them cannot know which it has.
                self.listening.ip().is_unspecified()
                    || address == self.listening.ip()
                    || [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)].contains(&address)
            }
            Err(_) => host.eq_ignore_ascii_case("localhost"),
        }
    }

    /// Whether a page of this origin is one of ours.
    fn allows_origin(&self, origin: &str) -> bool {
        let http = origin.strip_prefix("http://").map(|rest| (rest, HTTP_PORT));
        let found = http.or_else(|| origin.strip_prefix("https://").map(|rest| (rest, HTTPS_PORT)));
        found.is_some_and(|(authority, port)| self.allows(authority, port))
    }
}

/// Whether the cookie of a signed-in browser comes along.
fn is_signed_in(request: &Request) -> bool {
    let mut cookies = request.headers().get_all(header::COOKIE).iter();
    cookies
        .any(|cookies| cookies.as_bytes().windows(SESSION_COOKIE.len()).any(|part| part == SESSION_COOKIE.as_bytes()))
}

/// Whether the browser says that neither a page of ours nor the person asked. Other servers on this machine count as
/// the same site, so the cookie's `SameSite` does not keep their pages out.
pub(crate) fn is_from_elsewhere(headers: &HeaderMap) -> bool {
    let mut sites = headers.get_all(FETCH_SITE).iter();
    sites.any(|site| site != "same-origin" && site != "none")
}

/// Host and port; nothing for what is not exactly that.
fn split(authority: &str) -> Option<(String, Option<u16>)> {
    let parsed: Authority = authority.parse().ok()?;
    let port = parsed.port().map(|port| port.as_str().parse()).transpose().ok()?;
    (!authority.contains('@')).then(|| (parsed.host().to_owned(), port))
}

fn is_named(name: &str, host: &str, port: Option<u16>) -> bool {
    match split(name) {
        Some((named, None)) => named.eq_ignore_ascii_case(host),
        Some((named, named_port)) => named.eq_ignore_ascii_case(host) && named_port == port,
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(listening: &str) -> AllowedHosts {
        let named = vec!["skein.example".to_owned(), "other.example:8443".to_owned()];
        AllowedHosts::new(listening.parse().unwrap(), named)
    }

    #[test]
    fn own_names_and_allowed_ones_are_answered_to() {
        let hosts = hosts("127.0.0.1:7420");
        for name in ["127.0.0.1:7420", "localhost:7420", "LOCALHOST:7420", "[::1]:7420"] {
            assert!(hosts.allows(name, 80), "{name}");
        }
        assert!(hosts.allows("skein.example", 80) && hosts.allows("skein.example:9", 80));
        assert!(hosts.allows("other.example:8443", 80));
        assert!(hosts.allows_origin("http://localhost:7420"));
        assert!(hosts.allows_origin("https://skein.example"));
    }

    #[test]
    fn other_names_ports_and_pages_are_not() {
        let hosts = hosts("127.0.0.1:7420");
        for name in [
            "",
            "localhost",
            "localhost:7421",
            "evil.example:7420",
            "10.0.0.1:7420",
            "a@localhost:7420",
            "localhost:7420:7420",
            "localhost.evil.example:7420",
            "other.example",
            "localhost:99999",
        ] {
            assert!(!hosts.allows(name, 80), "{name:?}");
        }
        for origin in ["null", "http://evil.example", "http://localhost:5173", "file://localhost:7420"] {
            assert!(!hosts.allows_origin(origin), "{origin}");
        }
    }

    #[test]
    fn a_server_on_every_address_answers_to_addresses_and_not_to_names() {
        let hosts = hosts("0.0.0.0:80");
        assert!(hosts.allows("192.168.1.7", 80));
        assert!(!hosts.allows("evil.example", 80));
    }
}
