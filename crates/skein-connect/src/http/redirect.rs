//! Decides where a redirect leads and what may be taken along.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, Method, StatusCode, header};
use reqwest::Url;

use super::fault::CallFault;
use super::request;
use super::request::HttpCall;

/// The request as it is at one stop of its way.
#[derive(Debug, Clone)]
pub(super) struct RedirectHop {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    /// Whether this is still the origin the caller named. Secrets are for that one only, even if the way leads back.
    pub(super) is_trusted: bool,
}

/// What another origin may be told; anything else may be a secret.
const HARMLESS: [HeaderName; 4] = [header::ACCEPT, header::ACCEPT_LANGUAGE, header::CONTENT_TYPE, header::USER_AGENT];

impl RedirectHop {
    pub(super) fn first(call: &HttpCall) -> Self {
        let HttpCall { method, url, headers, body, .. } = call.clone();
        Self { method, url, headers, body, is_trusted: true }
    }

    /// The next stop, if the answer names one.
    pub(super) fn next(&self, status: StatusCode, headers: &HeaderMap) -> Result<Option<Self>, CallFault> {
        let is_redirect = matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308);
        let Some(location) = headers.get(header::LOCATION).filter(|_| is_redirect) else { return Ok(None) };
        let bad = |cause: &str| self.bad_redirect(cause);
        let location = location.to_str().map_err(|_| bad("its target is not text"))?;
        let url = self.url.join(location).map_err(|error| bad(&error.to_string()))?;
        request::check(&url)?;
        if self.url.scheme() == "https" && url.scheme() == "http" {
            return Err(bad("it leads away from an encrypted connection"));
        }
        let is_trusted = self.is_trusted && self.url.origin() == url.origin();
        let mut next = Self { url, is_trusted, ..self.clone() };
        if !is_trusted {
            next.headers = harmless(&self.headers);
        }
        let repeats_body = matches!(status.as_u16(), 307 | 308);
        if !repeats_body && ![Method::GET, Method::HEAD].contains(&self.method) {
            next.method = Method::GET;
            next.body = Bytes::new();
            next.headers.remove(header::CONTENT_TYPE);
        }
        Ok(Some(next))
    }

    pub(super) fn bad_redirect(&self, cause: &str) -> CallFault {
        CallFault::Redirect { host: self.url.host_str().unwrap_or_default().to_owned(), cause: cause.to_owned() }
    }
}

fn harmless(headers: &HeaderMap) -> HeaderMap {
    let kept = headers.iter().filter(|(name, _)| HARMLESS.contains(name));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::Refusal;

    fn stop(method: Method) -> RedirectHop {
        let headers =
            [("authorization", "Bearer x"), ("x-mine", "y"), ("accept", "text/plain"), ("content-type", "a/b")];
        RedirectHop {
            method,
            url: Url::parse("https://one.example/a/b?c").unwrap(),
            headers: headers.map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).into_iter().collect(),
            body: Bytes::from_static(b"body"),
            is_trusted: true,
        }
    }

    fn next(stop: &RedirectHop, status: u16, location: &str) -> Result<Option<RedirectHop>, CallFault> {
        let headers = HeaderMap::from_iter([(header::LOCATION, location.parse().unwrap())]);
        stop.next(StatusCode::from_u16(status).unwrap(), &headers)
    }

    #[test]
    fn the_same_origin_is_told_everything() {
        let next = next(&stop(Method::GET), 302, "../d").unwrap().unwrap();
        assert_eq!(next.url.as_str(), "https://one.example/d");
        assert!(next.is_trusted && next.headers.contains_key("authorization") && next.headers.contains_key("x-mine"));
    }

    #[test]
    fn another_origin_is_told_nothing_secret_even_on_the_way_back() {
        for elsewhere in ["https://two.example/", "https://one.example:444/", "//three.example/"] {
            let there = next(&stop(Method::GET), 307, elsewhere).unwrap().unwrap();
            let names: Vec<&str> = there.headers.keys().map(HeaderName::as_str).collect();
            assert_eq!(names, ["accept", "content-type"], "{elsewhere}");
            let back = next(&there, 307, "https://one.example/").unwrap().unwrap();
            assert!(!there.is_trusted && !back.is_trusted);
        }
    }

    #[test]
    fn a_body_is_repeated_only_when_the_status_says_so() {
        for (status, method, bytes) in [(301, "GET", 0), (303, "GET", 0), (307, "POST", 4), (308, "POST", 4)] {
            let next = next(&stop(Method::POST), status, "/").unwrap().unwrap();
            assert_eq!((next.method.as_str(), next.body.len()), (method, bytes), "{status}");
        }
    }

    #[test]
    fn bad_targets_are_refused() {
        assert!(matches!(next(&stop(Method::GET), 302, "http://one.example/"), Err(CallFault::Redirect { .. })));
        let refused = next(&stop(Method::GET), 302, "file:///etc/passwd");
        assert!(matches!(refused, Err(CallFault::Refused(Refusal::Scheme(scheme))) if scheme == "file"));
        assert!(matches!(next(&stop(Method::GET), 302, "https://u:p@one.example/"), Err(CallFault::Address(_))));
        assert!(matches!(next(&stop(Method::GET), 302, "https://[bad/"), Err(CallFault::Redirect { .. })));
    }

    #[test]
    fn other_answers_lead_nowhere() {
        assert!(next(&stop(Method::GET), 200, "/").unwrap().is_none());
        assert!(next(&stop(Method::GET), 304, "/").unwrap().is_none());
        assert!(stop(Method::GET).next(StatusCode::FOUND, &HeaderMap::new()).unwrap().is_none());
    }
}
