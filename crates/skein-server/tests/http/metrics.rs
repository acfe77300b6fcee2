//! Metrics of requests, which strangers cannot make grow.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use skein_core::account::{Role, Scope};
use skein_engine::KeyText;
use skein_server::AllowedHosts;
use tower::ServiceExt as _;

use crate::server_fixture::{HOST, ServerFixture};

fn router(world: &ServerFixture) -> Router {
    router_on(world, "127.0.0.1:7420")
}

fn router_on(world: &ServerFixture, listening: &str) -> Router {
    let hosts = AllowedHosts::new(listening.parse().unwrap(), Vec::new());
    skein_server::router(world.context(), hosts)
}

/// Status and text of the metrics, as somebody gets them who sends `authorization`.
async fn metrics_by(router: &Router, authorization: Option<&str>) -> (u16, String) {
    let request = Request::builder().uri("/metrics").header("host", HOST);
    let request = authorization.into_iter().fold(request, |request, sent| request.header("authorization", sent));
    let response = router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    let status = response.status().as_u16();
    (status, String::from_utf8(to_bytes(response.into_body(), usize::MAX).await.unwrap().into()).unwrap())
}

#[tokio::test]
async fn metrics_on_an_address_that_others_reach_need_a_key() {
    let world = ServerFixture::new().await;
    let unknown = format!("Bearer {}", KeyText::draw().reveal());
    let bert = world.joined_by("bert", Role::User, Scope::Read).await;
    let reading = format!("Bearer {}", bert.key.reveal());
    for listening in ["0.0.0.0:7420", "192.0.2.7:7420", "[::]:7420", "[2001:db8::7]:7420"] {
        let router = router_on(&world, listening);
        for refused in [None, Some("Bearer"), Some("Basic YTpi"), Some(unknown.as_str())] {
            let (status, text) = metrics_by(&router, refused).await;
            assert_eq!(status, 401, "{listening} {refused:?}");
            assert!(text.contains(r#""code":"unauthenticated""#) && !text.contains("http_requests"), "{text}");
        }
        let (status, text) = metrics_by(&router, Some(&reading)).await;
        assert_eq!(status, 200, "{listening}: any key that may read is enough");
        assert!(text.contains(r#"http_requests_total{method="GET",route="/metrics",status="4xx"} 4"#), "{text}");
    }
}

#[tokio::test]
async fn metrics_on_loopback_need_no_key() {
    let world = ServerFixture::new().await;
    for listening in ["127.0.0.1:7420", "127.0.0.9:7420", "[::1]:7420", "[::ffff:127.0.0.1]:7420"] {
        let (status, text) = metrics_by(&router_on(&world, listening), None).await;
        assert_eq!(status, 200, "{listening}");
        assert!(text.contains("http_requests_in_flight 1"), "{text}");
    }
}

async fn ask(router: &Router, method: &str, path: &str) -> String {
    let request = Request::builder().method(method).uri(path).header("host", HOST);
    let response = router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    String::from_utf8(to_bytes(response.into_body(), usize::MAX).await.unwrap().into()).unwrap()
}

#[tokio::test]
async fn requests_are_counted_by_method_route_and_class() {
    let world = ServerFixture::new().await;
    let router = router(&world);
    for path in ["/health/live", "/health/live", "/api/v1/items/item_x", "/nothing"] {
        ask(&router, "GET", path).await;
    }
    let text = ask(&router, "GET", "/metrics").await;
    for line in [
        "# TYPE http_requests_total counter",
        r#"http_requests_total{method="GET",route="/health/live",status="2xx"} 2"#,
        r#"http_requests_total{method="GET",route="/api/v1/items/{id}",status="4xx"} 1"#,
        r#"http_requests_total{method="GET",route="none",status="4xx"} 1"#,
        "# TYPE http_request_duration_seconds histogram",
        r#"http_request_duration_seconds_count{route="/health/live"} 2"#,
        r#"http_request_duration_seconds_bucket{route="/health/live",le="+Inf"} 2"#,
        "http_requests_in_flight 1",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is missing:\n{text}");
    }
    assert!(text.contains("\nprocess_uptime_seconds "), "{text}");
}

#[tokio::test]
async fn made_up_paths_and_methods_add_no_labels() {
    let world = ServerFixture::new().await;
    let router = router(&world);
    for path in ["/made-up", "/api/v1/items/made-up", "/api/v1/items"] {
        ask(&router, "MADE-UP", path).await;
    }
    let before = ask(&router, "GET", "/metrics").await.lines().count();
    for n in 0..1_000 {
        ask(&router, &format!("MADE-UP-{n}"), &format!("/made-up/{n}")).await;
        ask(&router, &format!("MADE-UP-{n}"), &format!("/api/v1/items/made-up-{n}?made-up={n}")).await;
    }
    ask(&router, "GET", "/metrics").await;
    let after = ask(&router, "GET", "/metrics").await;
    assert!(!after.to_lowercase().contains("made-up"), "{after}");
    // The only new lines are those of fetching the metrics themselves.
    let own = after.lines().filter(|line| line.contains(r#"route="/metrics""#)).count();
    assert_eq!(after.lines().count(), before + own);
}

#[tokio::test]
async fn two_servers_in_one_process_count_apart() {
    let world = ServerFixture::new().await;
    let (one, other) = (router(&world), router(&world));
    ask(&one, "GET", "/health/live").await;
    assert!(ask(&one, "GET", "/metrics").await.contains("/health/live"));
    assert!(!ask(&other, "GET", "/metrics").await.contains("/health/live"));
}
