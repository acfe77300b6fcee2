//! The signed-in browser: links that count once, a cookie out of reach, and pages of others that must not use it.

use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use serde_json::json;
use skein_server::{AllowedHosts, Context};
use tower::ServiceExt as _;

use crate::log_lines::{capture, logged};
use crate::server_fixture::{Answer, HOST, ServerFixture, fresh_key};

/// A fresh link's path.
async fn link(world: &ServerFixture) -> String {
    let made = world.post("/api/v1/account/sign-in-links", "{}").await;
    assert_eq!(made.status, StatusCode::CREATED, "{}", made.text);
    let url = made.json()["url"].as_str().unwrap().to_owned();
    url.strip_prefix("http://localhost:7420").unwrap().to_owned()
}

async fn open(world: &ServerFixture, method: &str, path: &str) -> Answer {
    let request = Request::builder().method(method).uri(path).header("host", HOST);
    world.send(request.body(Body::empty()).unwrap()).await
}

/// The cookie of a browser that was signed in, as it is sent back.
async fn cookie(world: &ServerFixture) -> String {
    let answer = open(world, "GET", &link(world).await).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.text);
    answer.header("set-cookie").split(';').next().unwrap().to_owned()
}

async fn with_cookie(
    world: &ServerFixture,
    method: &str,
    path: &str,
    cookie: &str,
    headers: &[(&str, &str)],
) -> Answer {
    let request = Request::builder().method(method).uri(path).header("host", HOST).header("cookie", cookie);
    let request = request.header("idempotency-key", fresh_key()).header("content-type", "application/json");
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    let body = if method == "GET" { String::new() } else { json!({ "name": "x", "scope": "admin" }).to_string() };
    world.send(request.body(body.into()).unwrap()).await
}

#[tokio::test]
async fn a_link_counts_once_and_looking_does_not_use_it_up() {
    let world = ServerFixture::new().await;
    let path = link(&world).await;
    for method in ["HEAD", "OPTIONS", "PUT"] {
        let answer = open(&world, method, &path).await;
        assert_eq!((answer.status, answer.header("set-cookie")), (StatusCode::METHOD_NOT_ALLOWED, ""), "{method}");
    }
    assert_eq!(open(&world, "GET", &path).await.status, StatusCode::SEE_OTHER);
    let again = open(&world, "GET", &path).await;
    assert_eq!((again.status, again.code().as_str()), (StatusCode::UNAUTHORIZED, "unauthenticated"));
    assert_eq!(again.header("set-cookie"), "");
    for path in ["/sign-in/x", "/sign-in/%00", "/sign-in/sl_0000000000000000000000000000000000000000000"] {
        assert_eq!(open(&world, "GET", path).await.status, StatusCode::UNAUTHORIZED, "{path}");
    }
}

#[tokio::test]
async fn of_many_who_open_a_link_at_once_one_is_let_in() {
    let world = ServerFixture::new().await;
    let path = link(&world).await;
    let answers = futures::future::join_all((0..16).map(|_| open(&world, "GET", &path))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == StatusCode::SEE_OTHER).count(), 1);
}

#[tokio::test]
async fn the_cookie_is_for_this_site_and_out_of_reach_of_scripts() {
    let world = ServerFixture::new().await;
    let parts = |cookie: &str| cookie.split("; ").skip(1).map(str::to_owned).collect::<Vec<_>>();
    let answer = open(&world, "GET", &link(&world).await).await;
    assert_eq!(parts(answer.header("set-cookie"))[..3], ["Path=/", "HttpOnly", "SameSite=Strict"]);
    assert!(!answer.header("set-cookie").contains("Secure"));
    let context = Context::new(world.engine.clone(), "https://skein.example/");
    let hosts = AllowedHosts::new("127.0.0.1:7420".parse().unwrap(), vec!["skein.example".to_owned()]);
    let request = Request::get(link(&world).await).header("host", "skein.example").body(Body::empty()).unwrap();
    let secure = skein_server::router(context, hosts).oneshot(request).await.unwrap();
    assert!(secure.headers()["set-cookie"].to_str().unwrap().ends_with("; Secure"), "{:?}", secure.headers());
    to_bytes(secure.into_body(), usize::MAX).await.unwrap();
}

#[tokio::test]
async fn a_signed_in_browser_is_let_in_until_it_is_signed_out() {
    let world = ServerFixture::new().await;
    let cookie = cookie(&world).await;
    let who = with_cookie(&world, "GET", "/api/v1/account", &cookie, &[]).await.json();
    assert_eq!((&who["credential"], &who["scope"]), (&json!("session"), &json!("admin")));
    let request = Request::delete("/api/v1/account/session").header("host", HOST).header("cookie", &cookie);
    let ended = world.send(request.header("idempotency-key", fresh_key()).body(Body::empty()).unwrap()).await;
    assert!(ended.header("set-cookie").contains("Max-Age=0"), "{:?}", ended.headers);
    let after = with_cookie(&world, "GET", "/api/v1/account", &cookie, &[]).await;
    assert_eq!(after.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn pages_of_others_cannot_use_the_cookie() {
    let world = ServerFixture::new().await;
    let cookie = cookie(&world).await;
    let foreign: [&[(&str, &str)]; 8] = [
        &[("origin", "http://evil.example")],
        &[("origin", "null")],
        &[("origin", "http://localhost:3000")],
        &[("origin", "http://localhost:7420"), ("origin", "http://evil.example")],
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "same-site")],
        &[("sec-fetch-site", "unheard-of")],
        &[("origin", "http://localhost:7420"), ("sec-fetch-site", "cross-site")],
    ];
    for headers in foreign {
        for (method, path) in [("GET", "/api/v1/items"), ("POST", "/api/v1/keys"), ("GET", "/")] {
            let answer = with_cookie(&world, method, path, &cookie, headers).await;
            let told = (answer.status, answer.code());
            assert_eq!(told, (StatusCode::FORBIDDEN, "origin_not_allowed".to_owned()), "{method} {path} {headers:?}");
        }
    }
    assert!(world.get("/api/v1/keys").await.json()["data"].as_array().unwrap().is_empty());
}

#[tokio::test]
async fn its_own_pages_and_its_person_can_and_others_without_it_may_look() {
    let world = ServerFixture::new().await;
    let cookie = cookie(&world).await;
    for headers in
        [&[("sec-fetch-site", "same-origin")], &[("sec-fetch-site", "none")], &[("origin", "http://localhost:7420")]]
    {
        let answer = with_cookie(&world, "GET", "/api/v1/items", &cookie, headers).await;
        assert_eq!(answer.status, StatusCode::OK, "{headers:?}: {}", answer.text);
    }
}

#[tokio::test]
async fn whoever_is_led_to_a_link_is_asked_before_being_signed_in() {
    let world = ServerFixture::new().await;
    let dora = json!({ "name": "Dora <b>\"&'", "role": "user" });
    let url = world.made("/api/v1/users", &dora).await["signInLink"]["url"].as_str().unwrap().to_owned();
    let path = url.strip_prefix("http://localhost:7420").unwrap();
    for site in ["cross-site", "same-site"] {
        // A link in somebody's mail leads here from another site, with cookies of other servers on this machine at most.
        let asked = with_cookie(&world, "GET", path, "other=1", &[("sec-fetch-site", site)]).await;
        assert_eq!((asked.status, asked.header("set-cookie")), (StatusCode::OK, ""), "{}", asked.text);
        assert!(asked.text.contains("Sign in as Dora &lt;b&gt;&quot;&amp;&#39;?"), "{}", asked.text);
        assert!(
            asked.headers.get_all("content-security-policy").iter().any(|policy| policy == "frame-ancestors 'none'")
        );
        let forged = with_cookie(&world, "POST", path, "other=1", &[("sec-fetch-site", site)]).await;
        assert_eq!(forged.refused(), (403, "origin_not_allowed".to_owned()), "{site}");
    }
    let forged = with_cookie(&world, "POST", path, "other=1", &[("origin", "http://evil.example")]).await;
    assert_eq!(forged.refused(), (403, "origin_not_allowed".to_owned()));
    let own = [("origin", "http://localhost:7420"), ("sec-fetch-site", "same-origin")];
    let followed = with_cookie(&world, "POST", path, "other=1", &own).await;
    assert_eq!(followed.status, StatusCode::SEE_OTHER, "{}", followed.text);
    assert!(followed.header("set-cookie").starts_with("skein_session="));
    let again = with_cookie(&world, "GET", path, "other=1", &[("sec-fetch-site", "cross-site")]).await;
    assert_eq!(again.refused(), (401, "unauthenticated".to_owned()));
}

#[tokio::test]
async fn a_browser_that_does_not_say_where_it_came_from_is_asked_and_a_program_is_not() {
    let world = ServerFixture::new().await;
    let pages = "text/html,application/xhtml+xml,*/*;q=0.8";
    let path = link(&world).await;
    for headers in [
        &[("accept", pages)][..],
        &[("accept", "application/json"), ("accept", "Text/HTML")],
        &[("accept", "*/*"), ("sec-fetch-site", "cross-site")],
        &[("accept", pages), ("sec-fetch-site", "none"), ("sec-fetch-site", "cross-site")],
    ] {
        let asked = with_cookie(&world, "GET", &path, "other=1", headers).await;
        assert_eq!((asked.status, asked.header("set-cookie")), (StatusCode::OK, ""), "{headers:?}");
    }
    let answered = with_cookie(&world, "POST", &path, "other=1", &[("origin", "http://localhost:7420")]).await;
    assert_eq!(answered.status, StatusCode::SEE_OTHER, "{}", answered.text);
    for headers in [
        &[][..],
        &[("accept", "*/*")],
        &[("accept", pages), ("sec-fetch-site", "none")],
        &[("accept", pages), ("sec-fetch-site", "same-origin")],
    ] {
        let entered = with_cookie(&world, "GET", &link(&world).await, "other=1", headers).await;
        assert_eq!(entered.status, StatusCode::SEE_OTHER, "{headers:?}: {}", entered.text);
    }
}

#[tokio::test]
async fn a_signed_in_browser_changes_its_account_by_a_button_only() {
    let world = ServerFixture::new().await;
    let cookie = cookie(&world).await;
    let made = world.made("/api/v1/users", &json!({ "name": "Mallory <i>", "role": "user" })).await;
    let path = made["signInLink"]["url"].as_str().unwrap().strip_prefix("http://localhost:7420").unwrap().to_owned();
    let pages = ("accept", "text/html,*/*;q=0.8");
    for headers in [
        &[pages, ("sec-fetch-site", "same-origin")][..],
        &[pages, ("sec-fetch-site", "none")],
        &[pages],
        &[("accept", "*/*")],
        &[],
    ] {
        let asked = with_cookie(&world, "GET", &path, &cookie, headers).await;
        assert_eq!((asked.status, asked.header("set-cookie")), (StatusCode::OK, ""), "{headers:?}: {}", asked.text);
        assert!(asked.text.contains("Sign in as Mallory &lt;i&gt;?"), "{}", asked.text);
        assert!(asked.text.contains("This browser is signed in as"), "{}", asked.text);
        assert!(asked.text.contains("<form method=\"post\">"), "{}", asked.text);
    }
    for headers in
        [[("sec-fetch-site", "cross-site")], [("sec-fetch-site", "same-site")], [("origin", "http://evil.example")]]
    {
        let forged = with_cookie(&world, "POST", &path, &cookie, &headers).await;
        assert_eq!(forged.refused(), (403, "origin_not_allowed".to_owned()), "{headers:?}");
    }
    let own = [("origin", "http://localhost:7420"), ("sec-fetch-site", "same-origin")];
    let confirmed = with_cookie(&world, "POST", &path, &cookie, &own).await;
    assert_eq!(confirmed.status, StatusCode::SEE_OTHER, "{}", confirmed.text);
    assert!(confirmed.header("set-cookie").starts_with("skein_session="));
    // A cookie that no longer counts may hide one that does.
    let path = link(&world).await;
    for cookies in ["skein_session=ss_gone".to_owned(), format!("skein_session=junk; {cookie}")] {
        let asked = with_cookie(&world, "GET", &path, &cookies, &[pages, ("sec-fetch-site", "none")]).await;
        assert_eq!((asked.status, asked.header("set-cookie")), (StatusCode::OK, ""), "{cookies}: {}", asked.text);
    }
}

#[tokio::test]
async fn a_link_of_ones_own_account_is_not_called_another_accounts() {
    let world = ServerFixture::new().await;
    let (cookie, path) = (cookie(&world).await, link(&world).await);
    let asked = with_cookie(&world, "GET", &path, &cookie, &[]).await;
    assert!(asked.text.contains("signed in to this account already"), "{}", asked.text);
    assert!(!asked.text.contains("other account"), "{}", asked.text);
    let behind = with_cookie(&world, "GET", &path, &format!("skein_session=junk; {cookie}"), &[]).await;
    assert!(behind.text.contains("signed in to this account already"), "{}", behind.text);
    let stale = with_cookie(&world, "GET", &path, "skein_session=ss_gone", &[]).await;
    assert!(stale.text.contains("was signed in before"), "{}", stale.text);
}

#[tokio::test]
async fn a_link_that_no_longer_works_is_explained_to_people() {
    let world = ServerFixture::new().await;
    let used = link(&world).await;
    assert_eq!(open(&world, "GET", &used).await.status, StatusCode::SEE_OTHER);
    let pages = [("accept", "text/html,application/xhtml+xml,*/*;q=0.8"), ("sec-fetch-site", "none")];
    for (method, path) in [
        ("GET", used.as_str()),
        ("POST", &used),
        ("GET", "/sign-in/x"),
        ("GET", "/sign-in/%00"),
        ("GET", "/sign-in/"),
        ("GET", "/sign-in"),
    ] {
        let told = with_cookie(&world, method, path, "other=1", &pages).await;
        assert_eq!((told.status, told.header("set-cookie")), (StatusCode::GONE, ""), "{method} {path}: {}", told.text);
        assert!(told.header("content-type").starts_with("text/html"), "{:?}", told.headers);
        for part in ["<html lang=\"en\">", "<title>This sign-in link no longer works", "Get a new link", "skein serve"]
        {
            assert!(told.text.contains(part), "{part}: {}", told.text);
        }
        assert!(!told.text.contains("<script") && !told.text.contains("sl_"), "{}", told.text);
        assert!(
            told.headers.get_all("content-security-policy").iter().any(|policy| policy == "frame-ancestors 'none'")
        );
    }
    let program = with_cookie(&world, "GET", &used, "other=1", &[("accept", "application/json")]).await;
    assert_eq!(program.refused(), (401, "unauthenticated".to_owned()));
}

#[tokio::test]
async fn neither_links_nor_cookies_nor_keys_reach_the_log() {
    let world = ServerFixture::new().await;
    capture();
    let path = link(&world).await;
    let answer = open(&world, "GET", &path).await;
    let cookie = answer.header("set-cookie").split(';').next().unwrap().to_owned();
    open(&world, "GET", &path).await;
    with_cookie(&world, "GET", "/api/v1/account", &cookie, &[]).await;
    let made = with_cookie(&world, "POST", "/api/v1/keys", &cookie, &[]).await.json();
    let key = made["key"].as_str().unwrap();
    let request = Request::get("/api/v1/account").header("host", HOST).header("authorization", format!("Bearer {key}"));
    assert_eq!(world.send(request.body(Body::empty()).unwrap()).await.status, StatusCode::OK);
    let log = logged();
    assert!(log.contains("/sign-in/{token}"), "{log}");
    for secret in [path.strip_prefix("/sign-in/").unwrap(), cookie.split_once('=').unwrap().1, key, world.key.reveal()]
    {
        assert!(secret.len() > 20 && !log.contains(secret), "{log}");
    }
}
