//! The page for people: built from `web/`, carried in this program, and served under a policy that lets it load and
//! reach nothing but this server.
//!
//! Names under `assets/` have a hash of their content in them and are kept for ever. The start page is written for every
//! visitor, because its policy names a nonce; it also answers every address that only the page understands.

use std::path::Path;
use std::sync::LazyLock;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{Html, IntoResponse as _, Response};
use sha2::{Digest as _, Sha256};
use skein_core::digest::to_hex;

use crate::http::error::{ApiError, no_such_path};

/// Every file of the built page, sorted by name; none where it was not built. A debug build takes another page from the
/// folder that `DEBUG_SKEIN_PAGE` names, so that whoever works on the page need not build the program each time.
static BUILT: LazyLock<Files> = LazyLock::new(|| {
    let folder = std::env::var_os("DEBUG_SKEIN_PAGE").filter(|_| cfg!(debug_assertions));
    folder.map_or(Files(include!(concat!(env!("OUT_DIR"), "/page_files.rs"))), |folder| {
        Files::of_folder(Path::new(&folder))
    })
});

const NOTICE: &str = include_str!("notice.html");
const NOTICE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";
const START: &str = "index.html";
const NONCE: &str = "{nonce}";
const NONCE_BYTES: usize = 16;
const ASSETS: &str = "assets/";
const FOR_EVER: &str = "public, max-age=31536000, immutable";
/// Kept, but asked after every time.
const ASKED_AFTER: &str = "no-cache";
/// What programs ask for: a page would only confuse them.
const NOT_THE_PAGE: [&str; 6] = ["/api", "/health", "/metrics", "/sign-in", "/v1", "/mcp"];
/// How files are kept beside themselves, and how their names end then. For whoever does not take that, all answers are
/// compressed alike.
const SMALLER: (&str, &str) = ("br", ".br");

/// `GET` of anything that no other route answers: a file of the page, the page itself where a browser goes, else nothing.
pub(crate) async fn show(request: Request) -> Result<Response, ApiError> {
    let (uri, headers) = (request.uri(), request.headers());
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    match if is_read { BUILT.answer(uri, headers)? } else { None } {
        Some(found) => Ok(found),
        None => Err(no_such_path(uri.clone()).await),
    }
}

struct Files(&'static [(&'static str, &'static [u8])]);

impl Files {
    /// As they are now, for as long as this process lives.
    fn of_folder(folder: &Path) -> Self {
        let mut found = Vec::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(inside) = folders.pop() {
            for path in std::fs::read_dir(inside).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())) {
                if path.is_dir() {
                    folders.push(path);
                } else if let (Ok(name), Ok(bytes)) = (path.strip_prefix(folder), std::fs::read(&path)) {
                    found.push((&*name.to_string_lossy().into_owned().leak(), &*bytes.leak()));
                }
            }
        }
        found.sort_unstable();
        Self(found.leak())
    }

    fn answer(&self, uri: &Uri, headers: &HeaderMap) -> Result<Option<Response>, ApiError> {
        let path = uri.path();
        let name = path.trim_start_matches('/');
        if path == "/" {
            return self.start(headers).map(Some);
        }
        if let Some(bytes) = self.find(name).filter(|_| name != START) {
            return Ok(Some(self.file(name, bytes, headers)));
        }
        let is_place = self.find(START).is_some() && is_navigation(headers) && !name.starts_with(ASSETS);
        let is_the_pages = !NOT_THE_PAGE.iter().any(|start| is_under(path, start));
        if is_place && is_the_pages { self.start(headers).map(Some) } else { Ok(None) }
    }

    fn find(&self, name: &str) -> Option<&'static [u8]> {
        self.0.binary_search_by_key(&name, |(name, _)| *name).ok().map(|at| self.0[at].1)
    }

    /// The start page, with a nonce drawn for it; without a built page, what there is instead.
    fn start(&self, headers: &HeaderMap) -> Result<Response, ApiError> {
        let Some(page) = self.find(START) else { return Ok(notice(headers)) };
        let mut random = [0; NONCE_BYTES];
        getrandom::fill(&mut random).map_err(|error| ApiError::internal(error.to_string()))?;
        let nonce = to_hex(&random);
        let page = String::from_utf8_lossy(page).replace(NONCE, &nonce);
        Ok(([(header::CONTENT_SECURITY_POLICY, policy(&nonce))], Html(page)).into_response())
    }

    fn file(&self, name: &str, bytes: &'static [u8], headers: &HeaderMap) -> Response {
        let kept = if name.starts_with(ASSETS) { FOR_EVER } else { ASKED_AFTER };
        let (encoding, end) = SMALLER;
        let smaller = self.find(&format!("{name}{end}")).filter(|_| accepts(headers, encoding));
        let (encoding, bytes) = smaller.map_or(("identity", bytes), |bytes| (encoding, bytes));
        // What is not kept smaller may be compressed on its way: it says the same by other bytes.
        let strength = if encoding == "identity" { "W/" } else { "" };
        let tag = format!("{strength}\"{}-{encoding}\"", to_hex(&Sha256::digest(bytes)[..12]));
        let known = headers.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes());
        let (status, body) =
            if known { (StatusCode::NOT_MODIFIED, Body::empty()) } else { (StatusCode::OK, Body::from(bytes)) };
        let mut response = (status, body).into_response();
        let put = response.headers_mut();
        put.insert(header::CACHE_CONTROL, HeaderValue::from_static(kept));
        put.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type(name)));
        put.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        put.insert(header::ETAG, HeaderValue::try_from(tag).expect("hexadecimal digits in quotes"));
        if encoding != "identity" {
            put.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
        }
        response
    }
}

/// What the page may load and reach.
fn policy(nonce: &str) -> HeaderValue {
    let policy = format!(
        "default-src 'self'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self' data: blob:; \
         media-src 'self' blob:; connect-src 'self'; frame-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'"
    );
    HeaderValue::try_from(policy).expect("visible ASCII")
}

/// Says what is running and how to talk to it. The address is the one it was reached by, which the host guard has judged.
fn notice(headers: &HeaderMap) -> Response {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("127.0.0.1:7420");
    let page = NOTICE.replace("{version}", env!("CARGO_PKG_VERSION")).replace("{address}", &format!("http://{host}"));
    ([(header::CONTENT_SECURITY_POLICY, NOTICE_POLICY)], Html(page)).into_response()
}

/// Whether a browser goes somewhere, rather than a program asking for something.
fn is_navigation(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter();
    accepted.filter_map(|accepted| accepted.to_str().ok()).any(|accepted| accepted.contains("text/html"))
}

fn is_under(path: &str, start: &str) -> bool {
    path.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn accepts(headers: &HeaderMap, encoding: &str) -> bool {
    let accepted = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|accepted| accepted.to_str().ok());
    accepted.flat_map(|accepted| accepted.split(',')).any(|one| {
        let (name, weight) = one.split_once(';').unwrap_or((one, ""));
        let refused =
            matches!(weight.trim().trim_start_matches("q=").trim_end_matches('0'), "0." | "" if weight.contains("q=0"));
        name.trim().eq_ignore_ascii_case(encoding) && !refused
    })
}

fn media_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, end)| end) {
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "json" => "application/json",
        "woff2" => "font/woff2",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;

    use super::*;

    static PAGE: Files = Files(&[
        ("assets/app-1a2b.js", b"long"),
        ("assets/app-1a2b.js.br", b"br"),
        ("favicon.svg", b"<svg/>"),
        ("index.html", b"<script nonce=\"{nonce}\" src=\"/assets/app-1a2b.js\">"),
    ]);
    static NONE: Files = Files(&[]);
    const BROWSER: (&str, &str) = ("accept", "text/html,application/xhtml+xml");

    fn ask(files: &Files, path: &str, headers: &[(&'static str, &str)]) -> Option<Response> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        files.answer(&path.parse().unwrap(), &map).unwrap()
    }

    fn header(response: &Response, name: &str) -> String {
        response.headers().get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
    }

    async fn text(response: Response) -> String {
        String::from_utf8(to_bytes(response.into_body(), usize::MAX).await.unwrap().to_vec()).unwrap()
    }

    #[tokio::test]
    async fn the_start_page_has_a_policy_with_a_nonce_of_its_own() {
        let (first, second) = (ask(&PAGE, "/", &[]).unwrap(), ask(&PAGE, "/", &[]).unwrap());
        let policy = header(&first, "content-security-policy");
        assert!(policy.starts_with("default-src 'self'; script-src 'self'; style-src 'self' 'nonce-"), "{policy}");
        assert!(!policy.contains("unsafe") && policy.contains("object-src 'none'; base-uri 'none'"));
        assert_ne!(policy, header(&second, "content-security-policy"));
        let nonce = policy.split("'nonce-").nth(1).unwrap().split('\'').next().unwrap();
        assert!(text(first).await.contains(&format!("nonce=\"{nonce}\"")));
    }

    #[tokio::test]
    async fn hashed_names_are_kept_for_ever_and_sent_small() {
        let plain = ask(&PAGE, "/assets/app-1a2b.js", &[]).unwrap();
        assert_eq!(header(&plain, "cache-control"), FOR_EVER);
        assert_eq!(header(&plain, "content-type"), "text/javascript; charset=utf-8");
        assert_eq!((header(&plain, "content-encoding"), text(plain).await), (String::new(), "long".to_owned()));
        for (accepted, encoding, body) in [
            ("gzip, br", "br", "br"),
            ("gzip", "", "long"),
            ("br;q=0, gzip;q=0.5", "", "long"),
            ("br;q=0.0", "", "long"),
        ] {
            let small = ask(&PAGE, "/assets/app-1a2b.js", &[("accept-encoding", accepted)]).unwrap();
            assert_eq!(
                (header(&small, "content-encoding"), header(&small, "vary")),
                (encoding.into(), "accept-encoding".into())
            );
            assert_eq!(text(small).await, body, "{accepted}");
        }
    }

    #[test]
    fn what_a_browser_has_is_not_sent_again() {
        let icon = ask(&PAGE, "/favicon.svg", &[]).unwrap();
        let tag = header(&icon, "etag");
        assert_eq!((header(&icon, "cache-control"), icon.status()), (ASKED_AFTER.to_owned(), StatusCode::OK));
        let again = ask(&PAGE, "/favicon.svg", &[("if-none-match", &tag)]).unwrap();
        assert_eq!((again.status(), header(&again, "etag")), (StatusCode::NOT_MODIFIED, tag));
    }

    #[test]
    fn addresses_of_the_page_lead_to_it_and_those_of_programs_do_not() {
        for path in ["/c/entity_1", "/c/entity_1/n/7", "/settings/keys", "/apiary"] {
            assert_eq!(header(&ask(&PAGE, path, &[BROWSER]).unwrap(), "content-type"), "text/html; charset=utf-8");
            assert!(ask(&PAGE, path, &[("accept", "application/json")]).is_none(), "{path}");
            assert!(ask(&PAGE, path, &[]).is_none() && ask(&NONE, path, &[BROWSER]).is_none(), "{path}");
        }
        for path in
            ["/api", "/api/v1/nothing", "/health/x", "/metrics/x", "/sign-in", "/v1/models", "/mcp", "/assets/gone.js"]
        {
            assert!(ask(&PAGE, path, &[BROWSER]).is_none(), "{path}");
        }
    }

    #[tokio::test]
    async fn without_a_built_page_a_notice_says_what_there_is_and_loads_nothing() {
        let notice = ask(&NONE, "/", &[("host", "127.0.0.1:7420")]).unwrap();
        assert_eq!(header(&notice, "content-security-policy"), NOTICE_POLICY);
        let text = text(notice).await;
        for said in
            ["/api/v1/items", "/api/docs", "/health/ready", "Idempotency-Key", "make web", env!("CARGO_PKG_VERSION")]
        {
            assert!(text.contains(said), "{said} is not on the page");
        }
        assert!(!text.contains("src=") && !text.contains("href=\"http"));
    }
}
