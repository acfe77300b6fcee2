//! Signed tokens: which count, which do not, and how the issuer's keys are fetched and kept.

use std::sync::Arc;
use std::task::Poll;

use serde_json::{Value, json};
use skein_core::account::Scope;
use skein_core::{Millis, UserId};
use skein_server::http::limits;
use skein_server::{BadToken, Claims, TokenOptions, Tokens};
use tokio::sync::Notify;

use crate::issuer::{AUDIENCE, Conduct, ISSUER, Issuer, PrivateKey, encoded, hmac, token};

const NOW: Millis = Millis(1_800_000_000_000);
const SECONDS: i64 = NOW.0 / 1_000;
const USER: &str = "user_01HQ3K4N7Y8M2P5R6T9W0X1Z2A";

fn claims() -> Value {
    json!({ "iss": ISSUER, "aud": AUDIENCE, "sub": USER, "scope": "openid read write",
            "iat": SECONDS - 10, "nbf": SECONDS - 10, "exp": SECONDS + 300 })
}

/// The usual claims with some of them changed; null takes one away.
fn claims_with(changes: &Value) -> Value {
    let mut claims = claims();
    for (name, value) in changes.as_object().unwrap() {
        claims[name] = value.clone();
    }
    claims.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    claims
}

/// What becomes of a token with these claims that is signed as it should be.
async fn judged(changes: Value) -> Result<Claims, BadToken> {
    let key = PrivateKey::ed();
    let (_issuer, tokens) = Issuer::publishing(vec![key.published("k")]).await;
    tokens.check(&key.token("k", &claims_with(&changes)), NOW).await
}

#[tokio::test]
async fn a_token_of_each_algorithm_counts() {
    let until = Millis((claims()["exp"].as_i64().unwrap() + 60) * 1_000);
    let expected = Claims { subject: USER.parse().unwrap(), scope: Scope::Write, until };
    for key in [PrivateKey::rsa(), PrivateKey::ec(), PrivateKey::ed()] {
        let (_issuer, tokens) = Issuer::publishing(vec![key.published("k")]).await;
        assert_eq!(tokens.check(&key.token("k", &claims()), NOW).await, Ok(expected), "{}", key.algorithm());
    }
}

#[tokio::test]
async fn a_token_is_for_one_issuer_audience_and_time() {
    for (changes, refused) in [
        (json!({ "iss": "https://other.example" }), BadToken::Issuer),
        (json!({ "iss": null }), BadToken::Malformed),
        (json!({ "iss": [ISSUER] }), BadToken::Malformed),
        (json!({ "aud": "other" }), BadToken::Audience),
        (json!({ "aud": [] }), BadToken::Audience),
        (json!({ "aud": null }), BadToken::Malformed),
        (json!({ "exp": SECONDS - 60 }), BadToken::Expired),
        (json!({ "exp": null }), BadToken::Malformed),
        (json!({ "exp": "never" }), BadToken::Malformed),
        (json!({ "nbf": SECONDS + 61 }), BadToken::NotYetValid),
        (json!({ "iat": SECONDS + 61 }), BadToken::NotYetValid),
    ] {
        assert_eq!(judged(changes.clone()).await, Err(refused), "{changes}");
    }
    for changes in [
        json!({ "aud": ["other", AUDIENCE] }),
        json!({ "exp": SECONDS - 59 }),
        json!({ "nbf": SECONDS + 60, "iat": SECONDS + 60 }),
        json!({ "nbf": null, "iat": null }),
    ] {
        assert!(judged(changes.clone()).await.is_ok(), "{changes}");
    }
}

#[tokio::test]
async fn a_subject_is_a_user_in_any_spelling() {
    let user: UserId = USER.parse().unwrap();
    let uuid = {
        let hex = skein_core::digest::to_hex(user.as_bytes());
        format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
    };
    for sub in [USER.to_owned(), uuid.clone(), format!("user_{uuid}"), user.bare()] {
        assert_eq!(judged(json!({ "sub": sub })).await.unwrap().subject, user);
    }
    for sub in ["", "anna", "entity_01HQ3K4N7Y8M2P5R6T9W0X1Z2A", "user_", "00000000-0000-0000-0000-000000000000"] {
        assert_eq!(judged(json!({ "sub": sub })).await, Err(BadToken::Subject), "{sub}");
    }
    assert_eq!(judged(json!({ "sub": null })).await, Err(BadToken::Subject));
}

#[tokio::test]
async fn the_highest_scope_counts_and_none_is_refused() {
    for (scope, expected) in [("read", Scope::Read), ("admin read", Scope::Admin), ("x write", Scope::Write)] {
        assert_eq!(judged(json!({ "scope": scope })).await.unwrap().scope, expected);
    }
    for scope in [json!(""), json!("openid"), json!("Admin"), json!("admin,read"), json!("readwrite"), Value::Null] {
        assert_eq!(judged(json!({ "scope": scope })).await, Err(BadToken::Scope), "{scope}");
    }
}

#[tokio::test]
async fn a_signature_by_anybody_or_nobody_is_refused() {
    let (rsa, ed, foreign) = (PrivateKey::rsa(), PrivateKey::ed(), PrivateKey::ed());
    let (_issuer, tokens) = Issuer::publishing(vec![rsa.published("rsa"), ed.published("ed")]).await;
    let check = async |text: String| tokens.check(&text, NOW).await.unwrap_err();
    assert_eq!(check(foreign.token("ed", &claims())).await, BadToken::Signature);
    let none = json!({ "alg": "none" });
    assert_eq!(check(token(&none, &claims(), |_| Vec::new())).await, BadToken::Malformed);
    for secret in [rsa.published("rsa").to_string(), rsa.published("rsa")["n"].as_str().unwrap().to_owned()] {
        for id in ["rsa", "ed"] {
            let header = json!({ "alg": "HS256", "kid": id });
            let forged = token(&header, &claims(), |message| hmac(secret.as_bytes(), message));
            assert_eq!(check(forged).await, BadToken::Algorithm);
        }
    }
    for algorithm in ["RS384", "RS512", "PS256", "ES384"] {
        let header = json!({ "alg": algorithm, "kid": "rsa" });
        assert_eq!(check(token(&header, &claims(), |message| rsa.sign(message))).await, BadToken::Algorithm);
    }
    let crossed = json!({ "alg": "EdDSA", "kid": "rsa" });
    assert_eq!(check(token(&crossed, &claims(), |message| ed.sign(message))).await, BadToken::UnknownKey);
}

#[tokio::test]
async fn a_token_that_was_touched_is_refused() {
    let key = PrivateKey::ec();
    let (_issuer, tokens) = Issuer::publishing(vec![key.published("k")]).await;
    let good = key.token("k", &claims());
    let parts: Vec<&str> = good.split('.').collect();
    let promoted = encoded(claims_with(&json!({ "scope": "admin" })).to_string());
    let touched = format!("{}.{promoted}.{}", parts[0], parts[2]);
    assert_eq!(tokens.check(&touched, NOW).await, Err(BadToken::Signature));
    assert_eq!(tokens.check(&format!("{}.{}.", parts[0], parts[1]), NOW).await, Err(BadToken::Signature));
    let long = format!("{good}{}", "A".repeat(limits::TOKEN_BYTES_MAX));
    for text in ["", ".", "..", "a.b", "a.b.c", "a.b.c.d", &format!("{good}.x"), &long] {
        assert_eq!(tokens.check(text, NOW).await, Err(BadToken::Malformed), "{text}");
    }
    let critical = json!({ "alg": "ES256", "kid": "k", "crit": ["b64"], "b64": false });
    let critical = token(&critical, &claims(), |message| key.sign(message));
    assert_eq!(tokens.check(&critical, NOW).await, Err(BadToken::Malformed));
}

#[tokio::test]
async fn a_key_is_used_only_for_what_it_says_it_is_for() {
    let key = PrivateKey::rsa();
    for (name, value) in
        [("use", json!("enc")), ("alg", json!("RS512")), ("key_ops", json!(["encrypt"])), ("kty", json!("oct"))]
    {
        let mut published = key.published("k");
        published[name] = value;
        let (_issuer, tokens) = Issuer::publishing(vec![published]).await;
        assert_eq!(tokens.check(&key.token("k", &claims()), NOW).await, Err(BadToken::UnknownKey), "{name}");
    }
}

#[tokio::test]
async fn a_token_without_a_key_id_counts_where_one_key_can_be_meant() {
    let (one, other) = (PrivateKey::ed(), PrivateKey::ed());
    let unnamed = token(&json!({ "alg": "EdDSA" }), &claims(), |message| one.sign(message));
    let (issuer, tokens) = Issuer::publishing(vec![one.published("1"), PrivateKey::ec().published("2")]).await;
    assert!(tokens.check(&unnamed, NOW).await.is_ok());
    issuer.conduct(Conduct::Publish(vec![one.published("1"), other.published("3")]));
    let later = NOW.plus(limits::JWKS_FRESH_MS);
    assert!(issuer.tokens().check(&unnamed, NOW).await.is_err());
    assert_eq!(tokens.check(&unnamed, later).await, Err(BadToken::UnknownKey));
}

#[tokio::test]
async fn new_keys_are_picked_up_and_old_ones_dropped() {
    let (old, new) = (PrivateKey::ed(), PrivateKey::ec());
    let claims = claims_with(&json!({ "exp": SECONDS + 86_400 }));
    let (issuer, tokens) = Issuer::publishing(vec![old.published("old")]).await;
    assert!(tokens.check(&old.token("old", &claims), NOW).await.is_ok());
    issuer.conduct(Conduct::Publish(vec![new.published("new")]));
    assert_eq!(tokens.check(&new.token("new", &claims), NOW.plus(9_999)).await, Err(BadToken::UnknownKey));
    assert_eq!(issuer.asked(), 1);
    assert!(tokens.check(&new.token("new", &claims), NOW.plus(10_000)).await.is_ok());
    assert_eq!(issuer.asked(), 2);
    assert_eq!(tokens.check(&old.token("old", &claims), NOW.plus(20_000)).await, Err(BadToken::UnknownKey));
}

#[tokio::test]
async fn unknown_keys_do_not_make_the_server_ask_more_often() {
    let (known, unknown) = (PrivateKey::ed(), PrivateKey::ed());
    let (issuer, tokens) = Issuer::publishing(vec![known.published("k")]).await;
    let texts: Vec<String> = (0..50).map(|n| unknown.token(&format!("made-up-{n}"), &claims())).collect();
    let checks = texts.iter().map(|text| tokens.check(text, NOW));
    let outcomes = futures::future::join_all(checks).await;
    assert!(outcomes.into_iter().all(|outcome| outcome == Err(BadToken::UnknownKey)));
    assert_eq!(issuer.asked(), 1);
}

#[tokio::test]
async fn of_many_unknown_keys_some_wait_for_an_issuer_that_is_slow() {
    let (known, new) = (PrivateKey::ed(), PrivateKey::ed());
    let (issuer, tokens) = Issuer::publishing(vec![known.published("k")]).await;
    let good = known.token("k", &claims());
    assert!(tokens.check(&good, NOW).await.is_ok());
    let told = Arc::new(Notify::new());
    issuer.conduct(Conduct::Wait(Arc::clone(&told), vec![known.published("k"), new.published("new")]));
    let (later, text) = (NOW.plus(limits::JWKS_RETRY_MS), new.token("new", &claims()));
    let mut waiting: Vec<_> = (0..limits::JWKS_WAITING_MAX).map(|_| Box::pin(tokens.check(&text, later))).collect();
    while issuer.asked() < 2 {
        for check in &mut waiting {
            assert!(futures::poll!(check.as_mut()).is_pending());
        }
        tokio::task::yield_now().await;
    }
    let unknown = new.token("made-up", &claims());
    assert_eq!(tokens.check(&unknown, later).await, Err(BadToken::KeysUnavailable));
    assert!(tokens.check(&good, later).await.is_ok());
    told.notify_one();
    assert!(futures::future::join_all(waiting).await.iter().all(Result::is_ok));
    // Whoever names a made-up key after that is answered without anybody's waiting.
    let mut checks: Vec<_> = (0..50).map(|_| Box::pin(tokens.check(&unknown, later))).collect();
    for check in &mut checks {
        assert_eq!(futures::poll!(check.as_mut()), Poll::Ready(Err(BadToken::UnknownKey)));
    }
    assert_eq!(issuer.asked(), 2);
}

#[tokio::test]
async fn keys_are_kept_while_fresh_and_go_on_for_an_hour_when_the_issuer_is_down() {
    let key = PrivateKey::ed();
    let text = key.token("k", &claims_with(&json!({ "exp": SECONDS + 86_400 })));
    let (issuer, tokens) = Issuer::publishing(vec![key.published("k")]).await;
    let check = async |after_ms: i64| tokens.check(&text, NOW.plus(after_ms)).await.map(drop);
    assert_eq!((check(0).await, check(limits::JWKS_FRESH_MS - 1).await, issuer.asked()), (Ok(()), Ok(()), 1));
    issuer.conduct(Conduct::Fail);
    assert_eq!((check(limits::JWKS_FRESH_MS).await, issuer.asked()), (Ok(()), 2));
    assert_eq!((check(limits::JWKS_USABLE_MS - 1).await, issuer.asked()), (Ok(()), 3));
    assert_eq!(check(limits::JWKS_USABLE_MS).await, Err(BadToken::KeysUnavailable));
    issuer.conduct(Conduct::Publish(vec![key.published("k")]));
    assert_eq!(check(limits::JWKS_USABLE_MS + limits::JWKS_RETRY_MS).await, Ok(()));
    // A clock that was set back does not make old keys young.
    assert_eq!((check(0).await, issuer.asked()), (Ok(()), 5));
}

#[tokio::test]
async fn an_issuer_that_misbehaves_gives_no_keys() {
    let key = PrivateKey::ed();
    let text = key.token("k", &claims());
    let (good, _) = Issuer::publishing(vec![key.published("k")]).await;
    let padding = " ".repeat(limits::JWKS_BYTES_MAX);
    for conduct in [
        Conduct::Fail,
        Conduct::Redirect(good.url.clone()),
        Conduct::Send("not json".to_owned()),
        Conduct::Send(r#"{"keys":{}}"#.to_owned()),
        Conduct::Send(format!("{}{padding}", json!({ "keys": [key.published("k")] }))),
    ] {
        let issuer = Issuer::start(conduct).await;
        assert_eq!(issuer.tokens().check(&text, NOW).await, Err(BadToken::KeysUnavailable));
    }
    assert_eq!(good.asked(), 0);
    let strange = json!({ "kty": "PQ", "kid": "k", "alg": "ML-DSA-44" });
    let (_issuer, tokens) = Issuer::publishing(vec![strange, json!(7), key.published("k")]).await;
    assert!(tokens.check(&text, NOW).await.is_ok());
}

#[test]
fn keys_are_fetched_encrypted_or_from_this_machine() {
    let new = |jwks_url: &str| {
        let (issuer, audience) = (ISSUER.to_owned(), AUDIENCE.to_owned());
        Tokens::new(TokenOptions { issuer, audience, jwks_url: jwks_url.to_owned() })
    };
    for url in
        ["https://issuer.example/keys", "http://127.0.0.1:9/keys", "http://localhost/keys", "http://[::1]:9/keys"]
    {
        assert!(new(url).is_ok(), "{url}");
    }
    for url in [
        "http://issuer.example/keys",
        "http://127.0.0.1.evil.example/",
        "http://10.0.0.1/",
        "ftp://127.0.0.1/",
        "keys",
        "",
    ] {
        assert!(new(url).is_err(), "{url}");
    }
}
