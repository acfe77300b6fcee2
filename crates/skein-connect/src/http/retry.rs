//! Decides whether a call is tried again, and after which pause.

use std::time::Duration;

use http::{HeaderMap, Method, StatusCode, header};
use time::PrimitiveDateTime;
use time::format_description::BorrowedFormatItem;
use time::macros::format_description;

use super::request::Retry;

/// What came of a try, as far as trying again is concerned.
#[derive(Debug, Clone, Copy)]
pub(super) enum TryOutcome<'a> {
    Answer(StatusCode, &'a HeaderMap),
    Fault { is_retryable: bool },
}

impl Retry {
    /// The pause before the next try, or nothing when the outcome stands. `luck` is random, from nothing up to one.
    pub(super) fn pause_after(
        &self,
        tries: u32,
        method: &Method,
        outcome: TryOutcome<'_>,
        luck: f64,
    ) -> Option<Duration> {
        if !method.is_safe() {
            return None;
        }
        let wished = match outcome {
            TryOutcome::Fault { is_retryable: true } => None,
            TryOutcome::Answer(status, headers) if is_temporary(status) => retry_after(headers),
            TryOutcome::Fault { .. } | TryOutcome::Answer(..) => return None,
        };
        self.pause(tries, wished, luck)
    }

    /// The pause after so many tries that may be repeated, where the service may have wished for one.
    pub(crate) fn pause(&self, tries: u32, wished: Option<Duration>, luck: f64) -> Option<Duration> {
        if tries >= self.tries_max {
            return None;
        }
        let doublings = tries.saturating_sub(1).min(16);
        let longest = self.pause.saturating_mul(1 << doublings).min(self.pause_max);
        match wished {
            Some(wished) if wished > self.wished_pause_max => None,
            Some(wished) => Some(wished.max(longest.mul_f64(luck))),
            None => Some(longest.mul_f64(luck)),
        }
    }
}

/// Whether a status says that the same request may succeed later.
pub(super) fn is_temporary(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::REQUEST_TIMEOUT
            | StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT
    )
}

const HTTP_DATE: &[BorrowedFormatItem<'_>] =
    format_description!("[weekday repr:short], [day] [month repr:short] [year] [hour]:[minute]:[second] GMT");

/// How long a service asks us to wait. A date is measured against the service's own clock, its `Date` header.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let wish = text(header::RETRY_AFTER)?;
    if let Ok(seconds) = wish.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let at = |date| PrimitiveDateTime::parse(date, HTTP_DATE).ok();
    let wait = at(wish)? - at(text(header::DATE)?)?;
    Some(wait.try_into().unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RETRY: Retry = Retry {
        tries_max: 5,
        pause: Duration::from_millis(100),
        pause_max: Duration::from_millis(300),
        wished_pause_max: Duration::from_secs(10),
    };
    const BROKEN: TryOutcome<'_> = TryOutcome::Fault { is_retryable: true };

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    fn pause(tries: u32, outcome: TryOutcome<'_>) -> Option<u128> {
        RETRY.pause_after(tries, &Method::GET, outcome, 1.0).map(|pause| pause.as_millis())
    }

    #[test]
    fn pauses_double_up_to_a_bound_and_vary_by_luck() {
        assert_eq!(
            [1, 2, 3, 4, 5].map(|tries| pause(tries, BROKEN)),
            [Some(100), Some(200), Some(300), Some(300), None]
        );
        assert_eq!(RETRY.pause_after(1, &Method::GET, BROKEN, 0.25), Some(Duration::from_millis(25)));
    }

    #[test]
    fn only_safe_methods_are_repeated() {
        for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            assert_eq!(RETRY.pause_after(1, &method, BROKEN, 1.0), None);
        }
        for method in [Method::GET, Method::HEAD, Method::OPTIONS] {
            assert!(RETRY.pause_after(1, &method, BROKEN, 1.0).is_some());
        }
    }

    #[test]
    fn what_will_not_pass_is_not_repeated() {
        assert_eq!(pause(1, TryOutcome::Fault { is_retryable: false }), None);
        for status in [200, 301, 400, 401, 404, 500, 501] {
            assert_eq!(pause(1, TryOutcome::Answer(StatusCode::from_u16(status).unwrap(), &HeaderMap::new())), None);
        }
        for status in [408, 429, 502, 503, 504] {
            assert!(pause(1, TryOutcome::Answer(StatusCode::from_u16(status).unwrap(), &HeaderMap::new())).is_some());
        }
    }

    #[test]
    fn the_service_may_ask_for_a_longer_pause_within_bounds() {
        let busy = |headers: &HeaderMap| pause(1, TryOutcome::Answer(StatusCode::SERVICE_UNAVAILABLE, headers));
        assert_eq!(busy(&headers(&[("retry-after", "2")])), Some(2_000));
        assert_eq!(busy(&headers(&[("retry-after", "0")])), Some(100));
        assert_eq!(busy(&headers(&[("retry-after", "11")])), None);
        assert_eq!(busy(&headers(&[("retry-after", "soon")])), Some(100));
        let date = ("date", "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(busy(&headers(&[("retry-after", "Sun, 06 Nov 1994 08:49:40 GMT"), date])), Some(3_000));
        assert_eq!(busy(&headers(&[("retry-after", "Sun, 06 Nov 1994 08:49:30 GMT"), date])), Some(100));
        assert_eq!(busy(&headers(&[("retry-after", "Sun, 06 Nov 1994 08:49:40 GMT")])), Some(100));
    }
}
