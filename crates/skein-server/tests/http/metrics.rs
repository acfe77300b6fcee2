//! What is counted of requests, and that strangers cannot make it grow.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use skein_server::AllowedHosts;
use tower::ServiceExt as _;

use crate::world::{HOST, World};

fn router(world: &World) -> Router {
    let hosts = AllowedHosts::new("127.0.0.1:7420".parse().unwrap(), Vec::new());
    skein_server::router(world.context(), hosts)
}

async fn ask(router: &Router, method: &str, path: &str) -> String {
    let request = Request::builder().method(method).uri(path).header("host", HOST);
    let response = router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    String::from_utf8(to_bytes(response.into_body(), usize::MAX).await.unwrap().into()).unwrap()
}

#[tokio::test]
async fn requests_are_counted_by_method_route_and_class() {
    let world = World::new().await;
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
    let world = World::new().await;
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
    let world = World::new().await;
    let (one, other) = (router(&world), router(&world));
    ask(&one, "GET", "/health/live").await;
    assert!(ask(&one, "GET", "/metrics").await.contains("/health/live"));
    assert!(!ask(&other, "GET", "/metrics").await.contains("/health/live"));
}
