//! Bounds, repetitions and redirects of a call.

use std::time::Duration;

use futures::StreamExt as _;
use http::Method;
use skein_connect::http::{CallFault, HttpCall, Limits, Phase, Retry};
use skein_testkit::hostile_server::{Behaviour, HostileServer};

use crate::fixtures::{AT_ONCE, client, get};

const SHORT: Duration = Duration::from_millis(80);

async fn fault_of(hostile: &HostileServer, limits: Limits) -> CallFault {
    let call = HttpCall { limits, ..get(&hostile.endpoint()) };
    match client(&[hostile.address()]).send(&call).await {
        Ok(answer) => answer.body.whole().await.unwrap_err(),
        Err(fault) => fault,
    }
}

#[tokio::test]
async fn an_answer_comes_with_status_headers_and_body() {
    let hostile = HostileServer::start(|_| Behaviour::answer(418, &[("x-tea", "green")], "short and stout"));
    let answer = client(&[hostile.address()]).send(&get(&hostile.endpoint())).await.unwrap();
    assert_eq!((answer.status.as_u16(), answer.headers["x-tea"].as_bytes()), (418, b"green".as_slice()));
    assert_eq!(answer.body.whole().await.unwrap(), "short and stout");
}

#[tokio::test]
async fn a_request_carries_method_headers_and_body() {
    let hostile = HostileServer::start(|_| Behaviour::json("{}"));
    let mut call = HttpCall::new(Method::PATCH, &format!("{}/a?b=c", hostile.endpoint())).unwrap();
    call.headers.insert("x-mine", "1".parse().unwrap());
    call.body = "body".into();
    client(&[hostile.address()]).send(&call).await.unwrap();
    let [request] = <[_; 1]>::try_from(hostile.requests()).unwrap();
    assert_eq!((request.method.as_str(), request.path.as_str()), ("PATCH", "/a?b=c"));
    assert_eq!((request.header("x-mine"), request.body.as_slice()), (Some("1"), b"body".as_slice()));
}

#[tokio::test]
async fn kept_connections_are_used_again() {
    let hostile = HostileServer::start(|_| Behaviour::json("{}"));
    let client = client(&[hostile.address()]);
    for _ in 0..3 {
        client.send(&get(&hostile.endpoint())).await.unwrap().body.whole().await.unwrap();
    }
    let connections: Vec<usize> = hostile.requests().iter().map(|request| request.connection).collect();
    assert_eq!(connections, [1, 1, 1]);
}

#[tokio::test]
async fn silence_is_a_timeout_of_the_first_byte() {
    let hostile = HostileServer::start(|_| Behaviour::Silence);
    let fault = fault_of(&hostile, Limits { first_byte: SHORT, ..Limits::default() }).await;
    assert!(matches!(fault, CallFault::Timeout { phase: Phase::FirstByte, .. }), "{fault}");
    let fault = fault_of(&hostile, Limits { total: SHORT, ..Limits::default() }).await;
    assert!(matches!(fault, CallFault::Timeout { phase: Phase::Total, .. }), "{fault}");
}

#[tokio::test]
async fn a_stalled_body_is_an_idle_timeout() {
    let hostile =
        HostileServer::start(|_| Behaviour::Stall(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nfour".to_vec()));
    let fault = fault_of(&hostile, Limits { idle: SHORT, ..Limits::default() }).await;
    assert!(matches!(fault, CallFault::Timeout { phase: Phase::Idle, .. }), "{fault}");
}

#[tokio::test]
async fn slow_bytes_end_with_the_total_time() {
    let head = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
    let pause = Duration::from_millis(5);
    let hostile = HostileServer::start(move |_| Behaviour::Drip {
        head: head.clone(),
        pieces: vec![b"x".to_vec(); 10_000],
        pause,
    });
    let fault = fault_of(&hostile, Limits { total: SHORT, ..Limits::default() }).await;
    assert!(matches!(fault, CallFault::Timeout { phase: Phase::Total, .. }), "{fault}");
}

#[tokio::test]
async fn endless_and_huge_bodies_are_cut_at_the_limit() {
    let limits = Limits { answer_bytes_max: 1 << 20, ..Limits::default() };
    let endless = HostileServer::start(|_| Behaviour::Endless);
    assert!(matches!(fault_of(&endless, limits).await, CallFault::TooLarge { limit: 0x10_0000, .. }));
    let huge =
        HostileServer::start(|_| Behaviour::Stall(b"HTTP/1.1 200 OK\r\ncontent-length: 524288000\r\n\r\n".to_vec()));
    assert!(matches!(fault_of(&huge, limits).await, CallFault::TooLarge { limit: 0x10_0000, .. }));
}

#[tokio::test]
async fn what_arrived_before_a_reset_is_passed_on_with_the_fault_after_it() {
    let cut = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n".to_vec();
    let hostile = HostileServer::start(move |_| Behaviour::Raw(cut.clone()));
    let mut body = client(&[hostile.address()]).send(&get(&hostile.endpoint())).await.unwrap().body;
    assert_eq!(body.next().await.unwrap().unwrap(), "first");
    assert!(matches!(body.next().await, Some(Err(CallFault::Reset { .. }))));
    assert!(body.next().await.is_none());
}

#[tokio::test]
async fn resets_and_other_protocols_are_told_apart() {
    let reset = HostileServer::start(|_| Behaviour::Reset(Vec::new()));
    assert!(matches!(fault_of(&reset, Limits::default()).await, CallFault::Reset { .. }));
    let ssh = HostileServer::start(|_| Behaviour::Raw(b"SSH-2.0-OpenSSH_9.2\r\n".to_vec()));
    assert!(matches!(fault_of(&ssh, Limits::default()).await, CallFault::Protocol { .. }));
}

#[tokio::test]
async fn nobody_listening_is_no_connection() {
    let hostile = HostileServer::start(|_| Behaviour::Silence);
    let (address, endpoint) = (hostile.address(), hostile.endpoint());
    drop(hostile);
    let fault = client(&[address]).send(&get(&endpoint)).await.unwrap_err();
    assert!(matches!(fault, CallFault::Connect { .. }) && fault.is_retryable(), "{fault}");
}

#[tokio::test]
async fn a_safe_call_is_repeated_until_it_succeeds() {
    let hostile = HostileServer::start(|request| match request.path.as_str() {
        "/?busy" => Behaviour::answer(503, &[("retry-after", "0")], ""),
        _ => Behaviour::Reset(Vec::new()),
    });
    for path in ["/?busy", "/?reset"] {
        let call = HttpCall { retry: AT_ONCE, ..get(&format!("{}{path}", hostile.endpoint())) };
        let before = hostile.requests().len();
        let _ = client(&[hostile.address()]).send(&call).await;
        assert_eq!(hostile.requests().len() - before, 3, "{path}");
        let call = HttpCall { method: Method::POST, ..call };
        let before = hostile.requests().len();
        let _ = client(&[hostile.address()]).send(&call).await;
        assert_eq!(hostile.requests().len() - before, 1, "{path}");
    }
}

#[tokio::test]
async fn a_wish_for_a_long_pause_is_answered_by_giving_up() {
    let hostile = HostileServer::start(|_| Behaviour::answer(429, &[("retry-after", "3600")], "slow down"));
    let call = HttpCall { retry: Retry::default(), ..get(&hostile.endpoint()) };
    let answer = client(&[hostile.address()]).send(&call).await.unwrap();
    assert_eq!((answer.status.as_u16(), answer.retry_after()), (429, Some(Duration::from_hours(1))));
    assert_eq!(hostile.requests().len(), 1);
}

#[tokio::test]
async fn a_redirect_is_followed_and_a_loop_is_not() {
    let hostile = HostileServer::start(|request| match request.path.as_str() {
        "/start" => Behaviour::redirect(302, "/end"),
        "/end" => Behaviour::json("7"),
        _ => Behaviour::redirect(302, "/loop"),
    });
    let client = client(&[hostile.address()]);
    let answer = client.send(&get(&format!("{}/start", hostile.endpoint()))).await.unwrap();
    assert_eq!(answer.body.whole().await.unwrap(), "7");
    let fault = client.send(&get(&format!("{}/loop", hostile.endpoint()))).await.unwrap_err();
    assert!(matches!(fault, CallFault::Redirect { .. }), "{fault}");
    assert_eq!(hostile.requests().len(), 2 + 6);
}
