//! A secret acts by its type, is for one origin only, and a token is renewed once for everybody.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures::FutureExt as _;
use http::Method;
use serde_json::json;
use skein_connect::credential::{Credential, OnRenewal};
use skein_connect::http::{CallFault, Http, HttpCall};
use skein_core::catalog::secret::{SecretPlace, SecretType, SecretUse};
use skein_testkit::hostile_server::{Behaviour, HostileServer, Request};
use tokio::sync::Notify;

use crate::fixtures::{client, get};

fn credential(secret_type: SecretType, value: &str) -> Arc<Credential> {
    Arc::new(Credential::new(secret_type, value.as_bytes(), None).unwrap())
}

fn key(place: SecretPlace, name: &str, prefix: Option<&str>) -> Arc<Credential> {
    let key_use = SecretUse { place, name: name.to_owned(), prefix: prefix.map(str::to_owned) };
    Arc::new(Credential::new(SecretType::ApiKey, b"canary key+1", Some(&key_use)).unwrap())
}

async fn sent(credential: Arc<Credential>) -> Request {
    let hostile = HostileServer::start(|_| Behaviour::json("{}"));
    let call = HttpCall { credential: Some(credential), ..get(&format!("{}/a?b=c", hostile.endpoint())) };
    client(&[hostile.address()]).send(&call).await.unwrap();
    hostile.requests().remove(0)
}

#[tokio::test]
async fn br_secret_003_an_api_key_goes_where_the_tool_says_holds() {
    let bearer = credential(SecretType::ApiKey, "canary-key");
    assert_eq!(sent(bearer).await.header("authorization"), Some("Bearer canary-key"));
    let header = sent(key(SecretPlace::Header, "X-Api-Key", None)).await;
    assert_eq!((header.header("x-api-key"), header.header("authorization")), (Some("canary key+1"), None));
    assert_eq!(
        sent(key(SecretPlace::Header, "X-Key", Some("Token "))).await.header("x-key"),
        Some("Token canary key+1")
    );
    assert_eq!(sent(key(SecretPlace::Query, "key", None)).await.path, "/a?b=c&key=canary+key%2B1");
    assert_eq!(sent(key(SecretPlace::Query, "b", None)).await.path, "/a?b=canary+key%2B1");
}

#[tokio::test]
async fn br_secret_003_a_password_is_basic_authentication_holds() {
    let password = credential(SecretType::Password, r#"{"username": "Aladdin", "password": "open sesame"}"#);
    assert_eq!(sent(password).await.header("authorization"), Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="));
}

#[test]
fn br_secret_003_a_value_of_another_form_refuses() {
    let address = "http://a.example/t";
    let cases = [
        (SecretType::ApiKey, ""),
        (SecretType::ApiKey, "abc"),
        (SecretType::ApiKey, "two\nlines"),
        (SecretType::ApiKey, " canary-key "),
        (SecretType::ApiKey, "nön-ascii"),
        (SecretType::OauthToken, "just-a-token"),
        (SecretType::OauthToken, r#"{"accessToken": "abcd", "refreshToken": "efgh"}"#),
        (SecretType::OauthToken, r#"{"accessToken": "abcd", "color": "red"}"#),
        (SecretType::OauthToken, r#"{"accessToken": "ab\ncd"}"#),
        (
            SecretType::OauthToken,
            r#"{"accessToken": "abcd", "refreshToken": "efgh", "clientId": "i", "tokenUrl": "file:///t"}"#,
        ),
        (SecretType::Password, "plain"),
        (SecretType::Password, r#"{"username": "a:b", "password": "long enough"}"#),
        (SecretType::Password, r#"{"username": "a", "password": "abc"}"#),
        (SecretType::Certificate, "-----BEGIN CERTIFICATE-----"),
        (SecretType::Certificate, r#"{"certificate": "x", "privateKey": "y"}"#),
    ];
    for (secret_type, value) in cases {
        let refused = Credential::check(secret_type, value.as_bytes()).unwrap_err();
        assert_eq!(refused.rule(), "BR-SECRET-003", "{value}");
        assert!(value.len() < 5 || !refused.to_string().contains(value), "{refused}");
    }
    let fits = json!({"accessToken": "abcd", "refreshToken": "efgh", "clientId": "i", "tokenUrl": address}).to_string();
    assert_eq!(Credential::check(SecretType::OauthToken, fits.as_bytes()), Ok(()));
}

#[test]
fn nothing_is_shown_of_a_credential() {
    let shown = format!("{:?}", credential(SecretType::ApiKey, "canary-key"));
    assert_eq!(shown, "Credential(…)");
}

#[tokio::test]
async fn a_secret_does_not_follow_a_redirect_to_another_origin() {
    let other = HostileServer::start(|_| Behaviour::json("{}"));
    let to = other.endpoint();
    let first = HostileServer::start(move |request| match request.path.as_str() {
        "/here?key=canary+key%2B1" => Behaviour::redirect(302, "/away"),
        _ => Behaviour::redirect(302, &to),
    });
    let client = client(&[first.address(), other.address()]);
    let credentials = [
        key(SecretPlace::Query, "key", None),
        key(SecretPlace::Header, "X-Api-Key", None),
        credential(SecretType::Password, r#"{"username": "Aladdin", "password": "open sesame"}"#),
    ];
    for credential in credentials {
        let mut call = HttpCall { credential: Some(credential), ..get(&format!("{}/here", first.endpoint())) };
        call.headers.insert("x-mine", "perhaps a secret".parse().unwrap());
        client.send(&call).await.unwrap();
    }
    assert_eq!(first.requests()[1].path, "/away?key=canary+key%2B1");
    for request in other.requests() {
        assert_eq!(request.path, "/");
        for name in ["authorization", "x-api-key", "x-mine", "cookie", "referer"] {
            assert_eq!(request.header(name), None, "{name}");
        }
    }
    assert_eq!(other.requests().len(), 3);
}

/// A service that accepts only its newest token, and the endpoint that gives it out for the newest refresh token.
fn token_service() -> HostileServer {
    let given = AtomicUsize::new(0);
    HostileServer::start(move |request| {
        let newest = given.load(Ordering::SeqCst);
        if request.path == "/token" {
            let body = String::from_utf8_lossy(&request.body);
            let knows_client = request.header("authorization") == Some("Basic Y2xpZW50OmNsaWVudC1zZWNyZXQ=");
            if !knows_client || !body.contains(&format!("refresh_token=refresh-{newest}&")) {
                return Behaviour::answer(400, &[("content-type", "application/json")], r#"{"error":"invalid_grant"}"#);
            }
            let next = given.fetch_add(1, Ordering::SeqCst) + 1;
            return Behaviour::json(
                &json!({"access_token": format!("access-{next}"), "token_type": "bearer",
                "refresh_token": format!("refresh-{next}")})
                .to_string(),
            );
        }
        let is_current = request.header("authorization") == Some(&format!("Bearer access-{newest}"));
        if is_current && newest > 0 { Behaviour::json("7") } else { Behaviour::answer(401, &[], "") }
    })
}

fn token(service: &HostileServer, number: usize) -> Arc<Credential> {
    let value = json!({"accessToken": format!("access-{number}"), "refreshToken": format!("refresh-{number}"),
        "tokenUrl": format!("{}/token", service.endpoint()), "clientId": "client", "clientSecret": "client-secret",
        "scope": "read write"});
    credential(SecretType::OauthToken, &value.to_string())
}

async fn body(client: &Http, service: &HostileServer, credential: &Arc<Credential>) -> Result<String, CallFault> {
    let call = HttpCall { credential: Some(Arc::clone(credential)), ..get(&service.endpoint()) };
    let call = HttpCall { method: Method::POST, ..call };
    let answer = client.send(&call).await?;
    Ok(format!("{} {:?}", answer.status.as_u16(), answer.body.whole().await?))
}

#[tokio::test]
async fn br_secret_003_an_ended_token_is_renewed_and_handed_back_holds() {
    let service = token_service();
    let client = client(&[service.address()]);
    let credential = token(&service, 0);
    assert_eq!(body(&client, &service, &credential).await.unwrap(), "200 b\"7\"");
    let renewed = credential.renewed().unwrap();
    let value: serde_json::Value = serde_json::from_slice(&renewed).unwrap();
    assert_eq!((&value["accessToken"], &value["refreshToken"]), (&json!("access-1"), &json!("refresh-1")));
    assert_eq!(Credential::check(SecretType::OauthToken, &renewed), Ok(()));
    let scrubbed = credential.scrubber().text("access-0 access-1 refresh-1 client-secret").into_owned();
    assert!(!["access", "refresh", "client"].iter().any(|part| scrubbed.contains(part)), "{scrubbed}");
    let exchange = &service.requests()[1];
    assert!(String::from_utf8_lossy(&exchange.body).contains("scope=read%20write"));
    assert_eq!(body(&client, &service, &credential).await.unwrap(), "200 b\"7\"");
    assert_eq!(service.requests().iter().filter(|request| request.path == "/token").count(), 1);
}

#[tokio::test]
async fn calls_that_find_a_token_ended_together_renew_it_once() {
    let service = token_service();
    let client = client(&[service.address()]);
    let credentials: Vec<_> = (0..8).map(|_| token(&service, 0)).collect();
    let answers = futures::future::join_all(credentials.iter().map(|credential| body(&client, &service, credential)));
    for answer in answers.await {
        assert_eq!(answer.unwrap(), "200 b\"7\"");
    }
    assert!(credentials.iter().all(|credential| credential.renewed().is_some()));
    assert_eq!(service.requests().iter().filter(|request| request.path == "/token").count(), 1);
}

/// A credential that writes down, in order with what the service saw, the refresh tokens it was given to keep.
fn kept_token(service: &Arc<HostileServer>, kept: &Arc<Mutex<Vec<(String, usize)>>>) -> Arc<Credential> {
    let (watched, kept) = (Arc::clone(service), Arc::clone(kept));
    let keep: OnRenewal = Arc::new(move |value| {
        let value: serde_json::Value = serde_json::from_slice(&value).unwrap();
        let requests = watched.requests().len();
        kept.lock().unwrap().push((value["refreshToken"].as_str().unwrap().to_owned(), requests));
        async {}.boxed()
    });
    Arc::new(Arc::into_inner(token(service, 0)).unwrap().on_renewal(keep))
}

#[tokio::test]
async fn a_renewed_token_is_handed_over_before_it_is_used() {
    let (service, kept) = (Arc::new(token_service()), Arc::default());
    let client = client(&[service.address()]);
    let credential = kept_token(&service, &kept);
    assert_eq!(body(&client, &service, &credential).await.unwrap(), "200 b\"7\"");
    assert_eq!(*kept.lock().unwrap(), [("refresh-1".to_owned(), 2)], "after the first try and the exchange");
    assert_eq!(service.requests().len(), 3);
    let late = kept_token(&service, &kept);
    assert_eq!(body(&client, &service, &late).await.unwrap(), "200 b\"7\"");
    assert_eq!(kept.lock().unwrap()[1], ("refresh-1".to_owned(), 4), "also to whoever shares the exchange");
    assert!(credential.renewed().is_some() && late.renewed().is_some());
}

#[tokio::test]
async fn a_renewed_token_is_kept_although_the_caller_gave_up() {
    let asked = Arc::new(Notify::new());
    let told = Arc::clone(&asked);
    let (open, opened) = std::sync::mpsc::channel::<()>();
    let opened = Mutex::new(opened);
    let service = Arc::new(HostileServer::start(move |request| {
        if request.path != "/token" {
            return Behaviour::answer(401, &[], "");
        }
        told.notify_one();
        let _ = opened.lock().unwrap().recv();
        Behaviour::json(r#"{"access_token": "access-1", "refresh_token": "refresh-1"}"#)
    }));
    let (client, kept) = (client(&[service.address()]), Arc::new(Notify::new()));
    let keeper = Arc::clone(&kept);
    let keep: OnRenewal = Arc::new(move |_| {
        keeper.notify_one();
        async {}.boxed()
    });
    let credential = Arc::new(Arc::into_inner(token(&service, 0)).unwrap().on_renewal(keep));
    tokio::select! {
        _ = body(&client, &service, &credential) => panic!("it waits for the token"),
        () = asked.notified() => {}
    }
    open.send(()).unwrap();
    kept.notified().await;
}

#[tokio::test]
async fn a_keeper_that_panics_does_not_lose_the_token() {
    let service = token_service();
    let keep: OnRenewal = Arc::new(|_| panic!("no room"));
    let credential = Arc::new(Arc::into_inner(token(&service, 0)).unwrap().on_renewal(keep));
    assert_eq!(body(&client(&[service.address()]), &service, &credential).await.unwrap(), "200 b\"7\"");
}

#[tokio::test]
async fn br_secret_003_a_token_that_cannot_be_renewed_refuses() {
    let service = token_service();
    let client = client(&[service.address()]);
    let wrong = token(&service, 5);
    let fault = body(&client, &service, &wrong).await.unwrap_err();
    assert!(matches!(&fault, CallFault::Credential { cause, .. } if cause.contains("invalid_grant")), "{fault}");
    assert!(!fault.to_string().contains("refresh-5") && wrong.renewed().is_none());
    let bare = credential(SecretType::OauthToken, r#"{"accessToken": "ended"}"#);
    assert_eq!(body(&client, &service, &bare).await.unwrap(), "401 b\"\"");
}

#[tokio::test]
async fn a_token_endpoint_is_judged_like_any_address() {
    let service = HostileServer::start(|_| Behaviour::answer(401, &[], ""));
    let value = json!({"accessToken": "access", "refreshToken": "refresh", "clientId": "c",
        "tokenUrl": "http://169.254.169.254/token"});
    let credential = credential(SecretType::OauthToken, &value.to_string());
    let fault = body(&client(&[service.address()]), &service, &credential).await.unwrap_err();
    assert!(matches!(fault, CallFault::Refused(_)), "{fault}");
}

#[tokio::test]
async fn a_token_endpoint_that_redirects_is_not_followed() {
    let other = HostileServer::start(|_| Behaviour::json(r#"{"access_token": "theirs"}"#));
    for (status, elsewhere) in
        [301, 302, 303, 307, 308].into_iter().flat_map(|status| [(status, true), (status, false)])
    {
        let to = if elsewhere { other.endpoint() } else { "/again".to_owned() };
        let service = HostileServer::start(move |request| match request.path.as_str() {
            "/token" => Behaviour::redirect(status, &to),
            _ => Behaviour::answer(401, &[], ""),
        });
        let credential = token(&service, 0);
        let client = client(&[service.address(), other.address()]);
        let fault = body(&client, &service, &credential).await.unwrap_err();
        assert!(matches!(fault, CallFault::Redirect { .. }), "{status} {fault}");
        assert!(credential.renewed().is_none());
        let paths: Vec<String> = service.requests().into_iter().map(|request| request.path).collect();
        assert_eq!(paths, ["/", "/token"], "{status}");
    }
    assert_eq!(other.requests(), []);
}
