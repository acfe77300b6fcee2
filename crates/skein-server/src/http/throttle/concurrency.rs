//! Limits the requests in progress; beyond the limit a client is told to retry.
//!
//! A request counts until its answer begins, not while the answer streams, which may take as long as the client likes.

use std::sync::atomic::{AtomicUsize, Ordering};

use axum::extract::Request;

use crate::http::error::ApiError;

/// Paths asked for by whoever watches the server: one that is busy is still alive, and can still be measured.
const ALWAYS_ADMITTED: [&str; 3] = ["/health/live", "/health/ready", "/metrics"];

/// Places for requests in work.
#[derive(Debug)]
pub(crate) struct RequestSlots {
    at_once: AtomicUsize,
    at_once_max: usize,
}

/// A place that is taken, until it is dropped.
pub(crate) struct RequestSlot<'a>(&'a RequestSlots);

impl Drop for RequestSlot<'_> {
    fn drop(&mut self) {
        self.0.at_once.fetch_sub(1, Ordering::Relaxed);
    }
}

impl RequestSlots {
    pub(crate) fn new(at_once_max: usize) -> Self {
        Self { at_once: AtomicUsize::new(0), at_once_max }
    }

    /// A place, to be given back when the answer begins; none is taken by whoever is always admitted.
    pub(crate) fn admit(&self, request: &Request) -> Result<Option<RequestSlot<'_>>, ApiError> {
        if ALWAYS_ADMITTED.contains(&request.uri().path()) {
            return Ok(None);
        }
        let before = self.at_once.fetch_add(1, Ordering::Relaxed);
        let place = RequestSlot(self);
        if before < self.at_once_max { Ok(Some(place)) } else { Err(ApiError::busy()) }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use axum::Router;
    use axum::body::Body;
    use axum::extract::State;
    use axum::http::StatusCode;
    use axum::middleware::{Next, from_fn_with_state};
    use axum::response::{IntoResponse as _, Response};
    use axum::routing::get;
    use futures::stream;
    use tokio::sync::Notify;
    use tower::ServiceExt as _;

    use super::*;

    async fn enter(State(workload): State<Arc<RequestSlots>>, request: Request, next: Next) -> Response {
        match workload.admit(&request) {
            Ok(_place) => next.run(request).await,
            Err(error) => error.into_response(),
        }
    }

    fn router(places: usize, release: Arc<Notify>) -> Router {
        let wait = async move || {
            release.notified().await;
            StatusCode::NO_CONTENT
        };
        let endless = async || Body::from_stream(stream::pending::<Result<&str, std::io::Error>>());
        Router::new()
            .route("/wait", get(wait))
            .route("/endless", get(endless))
            .route("/health/live", get(async || StatusCode::OK))
            .layer(from_fn_with_state(Arc::new(RequestSlots::new(places)), enter))
    }

    async fn status(router: &Router, path: &str) -> StatusCode {
        router.clone().oneshot(Request::get(path).body(Body::empty()).unwrap()).await.unwrap().status()
    }

    #[tokio::test]
    async fn beyond_the_limit_a_request_is_sent_away_until_another_is_done() {
        let release = Arc::new(Notify::new());
        let router = router(1, Arc::clone(&release));
        let mut first = Box::pin(status(&router, "/wait"));
        assert!(futures::poll!(first.as_mut()).is_pending());
        assert_eq!(status(&router, "/wait").await, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(status(&router, "/health/live").await, StatusCode::OK);
        release.notify_one();
        assert_eq!(first.await, StatusCode::NO_CONTENT);
        release.notify_one();
        assert_eq!(status(&router, "/wait").await, StatusCode::NO_CONTENT);
    }

    #[tokio::test]
    async fn an_answer_that_streams_takes_no_place() {
        let router = router(1, Arc::default());
        let request = || Request::get("/endless").body(Body::empty()).unwrap();
        let first = router.clone().oneshot(request()).await.unwrap();
        let second = router.clone().oneshot(request()).await.unwrap();
        assert_eq!((first.status(), second.status()), (StatusCode::OK, StatusCode::OK));
    }

    #[tokio::test]
    async fn a_client_that_leaves_gives_its_place_back() {
        let router = router(1, Arc::default());
        let mut left = Box::pin(status(&router, "/wait"));
        assert!(futures::poll!(left.as_mut()).is_pending());
        drop(left);
        assert_eq!(status(&router, "/endless").await, StatusCode::OK);
    }
}
