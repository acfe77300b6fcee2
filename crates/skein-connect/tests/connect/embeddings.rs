//! Vectors over real connections: from a server by others, and from one that gives anything but vectors.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use skein_connect::credential::{Credential, MARK};
use skein_connect::embeddings::{BATCH_TEXTS_MAX, Embedded, Embeddings, EmbeddingsError, LIMITS, TEXT_BYTES_MAX};
use skein_connect::http::{CallFault, Limits, Phase};
use skein_connect::llm::LlmFault;
use skein_core::catalog::secret::SecretType;
use skein_testkit::hostile_server::{Behaviour, HostileServer, Request};
use skein_testkit::litellm::Litellm;

use crate::fixtures::{AT_ONCE, client};

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn key(value: &str) -> Arc<Credential> {
    Arc::new(Credential::new(SecretType::ApiKey, value.as_bytes(), None).unwrap())
}

fn of_hostile(hostile: &HostileServer) -> Embeddings {
    let embeddings = Embeddings::new(client(&[hostile.address()]), hostile.endpoint(), "m", None);
    Embeddings { retry: AT_ONCE, ..embeddings }
}

async fn answered(behaviour: Behaviour) -> (Result<Embedded, EmbeddingsError>, usize) {
    let hostile = HostileServer::start(move |_| behaviour.clone());
    let embedded = of_hostile(&hostile).embed(&texts(&["a", "b"])).await;
    (embedded, hostile.requests().len())
}

/// What was asked for in a request.
fn asked(request: &Request) -> Value {
    serde_json::from_slice(&request.body).unwrap()
}

/// For each text of a request a vector with its length, last text first.
fn backwards(request: &Request) -> Behaviour {
    let asked = asked(request);
    let texts = asked["input"].as_array().unwrap().iter().enumerate().rev();
    let vectors: Vec<Value> =
        texts.map(|(index, text)| json!({"index": index, "embedding": [text.as_str().unwrap().len(), 1]})).collect();
    let used = vectors.len();
    Behaviour::json(&json!({"data": vectors, "usage": {"prompt_tokens": used}}).to_string())
}

#[tokio::test]
async fn a_server_by_others_gives_each_text_its_own_vector() {
    let server = Litellm::start();
    let http = client(&[server.address()]);
    let digest = Embeddings::new(http, server.endpoint(), Litellm::EMBEDDER, Some(key(Litellm::KEY)));
    let asked: Vec<String> = (0..BATCH_TEXTS_MAX + 5).map(|number| format!("Grüße Nr. {number}")).collect();
    let embedded = digest.embed(&asked).await.unwrap();
    for (text, vector) in asked.iter().zip(&embedded.vectors) {
        let expected = Sha256::digest(text).iter().take(8).map(|byte| f32::from(*byte) / 255.0).collect::<Vec<_>>();
        assert_eq!(*vector, expected, "{text}");
    }
    assert_eq!((embedded.vectors.len(), embedded.tokens), (asked.len(), Some(asked.len() as u64)));

    let lazy = Embeddings { model: Litellm::LAZY_EMBEDDER.to_owned(), ..digest.clone() };
    assert_eq!(lazy.embed(&texts(&["a"])).await.unwrap().vectors, [[0.5, -0.25]]);
    let fewer = lazy.embed(&texts(&["a", "b"])).await.unwrap_err();
    assert_eq!(fewer, EmbeddingsError::Count { wanted: 2, found: 1 });
    let unknown = Embeddings { model: "nobody".to_owned(), ..digest.clone() }.embed(&texts(&["a"])).await.unwrap_err();
    assert!(matches!(unknown, EmbeddingsError::Endpoint(LlmFault::ModelNotFound { .. })), "{unknown}");
    let stranger = Embeddings { credential: Some(key("sk-wrong")), ..digest }.embed(&texts(&["a"])).await.unwrap_err();
    assert!(matches!(stranger, EmbeddingsError::Endpoint(_)), "{stranger}");
    assert!(!unknown.is_passing() && !stranger.is_passing(), "{stranger}");
}

#[tokio::test]
async fn texts_go_out_in_batches_and_come_back_in_order() {
    let hostile = HostileServer::start(backwards);
    let mut all: Vec<String> = (0..2 * BATCH_TEXTS_MAX).map(|number| "x".repeat(1 + number)).collect();
    all[3] = " \n".to_owned();
    all.push("é".repeat(TEXT_BYTES_MAX));
    let embedded = of_hostile(&hostile).embed(&all).await.unwrap();
    for (number, (text, vector)) in all.iter().zip(&embedded.vectors).enumerate() {
        let length = u16::try_from(text.len().min(TEXT_BYTES_MAX)).unwrap();
        let expected = if number == 3 { vec![] } else { vec![f32::from(length), 1.0] };
        assert_eq!(*vector, expected, "{number}");
    }
    let sizes: Vec<usize> =
        hostile.requests().iter().map(|each| asked(each)["input"].as_array().unwrap().len()).collect();
    assert_eq!((sizes.as_slice(), embedded.tokens), ([128, 128].as_slice(), Some(256)));
    assert_eq!(hostile.requests()[0].path, "/v1/embeddings");
    assert_eq!(of_hostile(&hostile).embed(&[]).await.unwrap(), Embedded::default());
    assert_eq!(hostile.requests().len(), 2, "for nothing nobody is asked");
}

#[tokio::test]
async fn dimensions_are_asked_for_only_where_they_were_chosen() {
    let hostile = HostileServer::start(backwards);
    of_hostile(&hostile).embed(&texts(&["a"])).await.unwrap();
    Embeddings { dimensions: Some(256), ..of_hostile(&hostile) }.embed(&texts(&["a"])).await.unwrap();
    let asked: Vec<Value> = hostile.requests().iter().map(asked).collect();
    assert_eq!(asked[0], json!({"model": "m", "input": ["a"]}));
    assert_eq!(asked[1], json!({"model": "m", "input": ["a"], "dimensions": 256}));
}

#[tokio::test]
async fn odd_vectors_are_given_as_they_came() {
    let body = r#"{"data": [{"index": 1, "embedding": [1, null, "NaN"]}, {"index": 0, "embedding": [1, 2, 3, 4]}]}"#;
    let (embedded, _) = answered(Behaviour::json(body)).await;
    let vectors = embedded.unwrap().vectors;
    assert_eq!((vectors[0].len(), vectors[1].len()), (4, 3));
    assert!(vectors[1][1].is_nan() && vectors[1][2].is_nan());
    let (embedded, _) = answered(Behaviour::json(r#"{"data": [{"embedding": "AAAAPw=="}, {"embedding": []}]}"#)).await;
    assert_eq!(embedded.unwrap().vectors, [vec![0.5], vec![]]);
}

#[tokio::test]
async fn nonsense_is_told_and_not_asked_for_again() {
    let one = Behaviour::json(r#"{"data": [{"index": 0, "embedding": [1]}]}"#);
    assert_eq!(answered(one).await, (Err(EmbeddingsError::Count { wanted: 2, found: 1 }), 1));
    let twice = r#"{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}"#;
    let literal = r#"{"data": [{"index": 0, "embedding": [NaN]}, {"index": 1, "embedding": [1]}]}"#;
    for body in ["", "{}", "<html>", "[[1], [2]]", twice, literal] {
        let (embedded, requests) = answered(Behaviour::json(body)).await;
        let error = embedded.unwrap_err();
        assert!(matches!(error, EmbeddingsError::NotUnderstood(_)), "{body}: {error}");
        assert!(error.is_passing() && requests == 1);
    }
}

#[tokio::test]
async fn passing_faults_are_tried_again_and_others_are_not() {
    let error = |kind: &str| json!({"error": {"message": "no", "type": kind}}).to_string();
    for status in [408, 429, 500, 502, 503, 529] {
        let (embedded, requests) = answered(Behaviour::answer(status, &[], error("server_error"))).await;
        assert!(embedded.unwrap_err().is_passing() && requests == 3, "{status}: {requests}");
    }
    for (status, kind) in
        [(400, "invalid_request_error"), (401, "auth"), (404, "not_found"), (429, "insufficient_quota")]
    {
        let (embedded, requests) = answered(Behaviour::answer(status, &[], error(kind))).await;
        assert!(!embedded.unwrap_err().is_passing() && requests == 1, "{status}: {requests}");
    }
    let (embedded, requests) = answered(Behaviour::json(&error("overloaded_error"))).await;
    assert!(matches!(embedded, Err(EmbeddingsError::Endpoint(LlmFault::Overloaded { .. }))) && requests == 3);
    let (embedded, requests) =
        answered(Behaviour::Reset(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{".to_vec())).await;
    assert!(embedded.unwrap_err().is_passing() && requests == 3);
}

#[tokio::test]
async fn an_endpoint_that_recovers_has_failed_nobody() {
    let tries = AtomicUsize::new(0);
    let hostile = HostileServer::start(move |request| match tries.fetch_add(1, Ordering::Relaxed) {
        0 => Behaviour::answer(500, &[], ""),
        1 => Behaviour::answer(429, &[("retry-after", "0")], ""),
        _ => backwards(request),
    });
    assert_eq!(of_hostile(&hostile).embed(&texts(&["abc"])).await.unwrap().vectors, [[3.0, 1.0]]);
    assert_eq!(hostile.requests().len(), 3);
}

#[tokio::test]
async fn a_longer_wait_than_there_is_time_for_is_told_at_once() {
    let hostile = HostileServer::start(|_| Behaviour::answer(429, &[("retry-after", "50")], ""));
    let limits = Limits { total: Duration::from_secs(40), ..LIMITS };
    let error = Embeddings { limits, ..of_hostile(&hostile) }.embed(&texts(&["a"])).await.unwrap_err();
    assert!(error.is_passing());
    assert_eq!((error.retry_after(), hostile.requests().len()), (Some(Duration::from_secs(50)), 1));
}

#[tokio::test]
async fn silence_ends_and_so_do_answers_without_end() {
    let hostile = HostileServer::start(|_| Behaviour::Silence);
    let limits = Limits { total: Duration::from_millis(100), ..LIMITS };
    let error = Embeddings { limits, ..of_hostile(&hostile) }.embed(&texts(&["a"])).await.unwrap_err();
    let EmbeddingsError::Endpoint(LlmFault::Call(CallFault::Timeout { phase, limit, .. })) = error.clone() else {
        panic!("{error}")
    };
    assert_eq!((phase, limit), (Phase::Total, limits.total));
    assert!(error.is_passing());
    let huge = Behaviour::answer(200, &[("content-type", "application/json")], vec![b' '; 100 << 20]);
    for endless in [huge, Behaviour::Endless] {
        let (embedded, requests) = answered(endless).await;
        let error = embedded.unwrap_err();
        let EmbeddingsError::Endpoint(LlmFault::Call(CallFault::TooLarge { .. })) = error else { panic!("{error}") };
        assert_eq!(requests, 1);
    }
}

#[tokio::test]
async fn the_key_is_sent_and_told_to_nobody() {
    let secret = "sk-canary-0123456789";
    let hostile = HostileServer::start(move |request| {
        let said = format!("bad key {}", request.header("authorization").unwrap());
        Behaviour::answer(401, &[], json!({"error": {"message": said}}).to_string())
    });
    let error =
        Embeddings { credential: Some(key(secret)), ..of_hostile(&hostile) }.embed(&texts(&["a"])).await.unwrap_err();
    assert_eq!(hostile.requests()[0].header("authorization"), Some(format!("Bearer {secret}").as_str()));
    let shown = format!("{error} {error:?}");
    assert!(!shown.contains("canary") && shown.contains(MARK), "{shown}");
}

#[tokio::test]
async fn an_address_nobody_allowed_is_not_asked_for_vectors() {
    let hostile = HostileServer::start(backwards);
    let embeddings = Embeddings { http: client(&[]), ..of_hostile(&hostile) };
    let error = embeddings.embed(&texts(&["a"])).await.unwrap_err();
    assert!(matches!(error, EmbeddingsError::Endpoint(LlmFault::Call(CallFault::Refused(_)))), "{error}");
    assert!(hostile.requests().is_empty() && !error.is_passing());
}
