//! Nothing gets past the guard: not by spelling, by name, by redirect, nor by a connection kept from before.

use std::net::SocketAddr;

use skein_connect::guard::{Endpoint, Guard, Refusal};
use skein_connect::http::{CallFault, Http, HttpCall, HttpOptions};
use skein_testkit::hostile_server::{Behaviour, HostileServer};

use crate::fixtures::{Told, client, get, guard};

fn ok() -> HostileServer {
    HostileServer::start(|_| Behaviour::json("{}"))
}

async fn refusal(client: &Http, url: &str) -> Refusal {
    match client.send(&get(url)).await {
        Err(CallFault::Refused(refusal)) => refusal,
        other => panic!("{url} was not refused: {other:?}"),
    }
}

#[tokio::test]
async fn loopback_is_refused_in_every_spelling_until_it_is_allowed() {
    let hostile = ok();
    let port = hostile.address().port();
    let client = client(&[]);
    for host in [
        "127.0.0.1",
        "127.1",
        "127.0.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "0x7f.0.0.1",
        "017700000001",
        "127.0.0.1.",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[0:0:0:0:0:ffff:127.0.0.1]",
        "localhost",
        "LOCALHOST",
        "１２７.０.０.１",
        "127。0。0。1",
    ] {
        let refused = refusal(&client, &format!("http://{host}:{port}/")).await;
        assert!(matches!(refused, Refusal::Loopback { .. }), "{host}: {refused}");
    }
    assert_eq!(hostile.requests(), []);
}

#[tokio::test]
async fn metadata_and_reserved_addresses_are_refused_in_every_spelling() {
    let client = client(&[]);
    for host in [
        "169.254.169.254",
        "2852039166",
        "0xa9fea9fe",
        "0251.0376.0251.0376",
        "169.254.43518",
        "[::ffff:169.254.169.254]",
        "[::ffff:a9fe:a9fe]",
        "[::169.254.169.254]",
        "[64:ff9b::169.254.169.254]",
        "[2002:a9fe:a9fe::1]",
        "[fd00:ec2::254]",
        "[fe80::1]",
        "100.100.100.200",
        "168.63.129.16",
    ] {
        let refused = refusal(&client, &format!("http://{host}/latest/meta-data/")).await;
        assert!(matches!(refused, Refusal::Metadata { .. }), "{host}: {refused}");
    }
    for host in
        ["0.0.0.0", "0", "0x0", "[::]", "[::ffff:0.0.0.0]", "255.255.255.255", "224.0.0.1", "[ff02::1]", "192.0.2.1"]
    {
        let refused = refusal(&client, &format!("https://{host}/")).await;
        assert!(matches!(refused, Refusal::Reserved { .. }), "{host}: {refused}");
    }
    for host in ["10.0.0.1", "172.16.0.1", "192.168.0.1", "100.64.0.1", "[fd12::1]", "[::ffff:10.0.0.1]"] {
        let refused = refusal(&client, &format!("http://{host}/")).await;
        assert!(matches!(refused, Refusal::Private { .. }), "{host}: {refused}");
    }
}

#[test]
fn other_schemes_and_addresses_with_passwords_are_no_calls() {
    for url in ["file:///etc/passwd", "gopher://x/", "ftp://x/", "unix:/run/x", "data:,x", "ws://x/"] {
        let refused = HttpCall::new(http::Method::GET, url).unwrap_err();
        assert!(matches!(refused, CallFault::Refused(Refusal::Scheme(_))), "{url}");
    }
    for url in ["http://user:pass@one.example/", "http://user@one.example/", "http://", "", "//x/", "http://[::1/"] {
        assert!(matches!(HttpCall::new(http::Method::GET, url), Err(CallFault::Address(_))), "{url}");
    }
}

#[tokio::test]
async fn a_name_is_judged_by_the_addresses_it_has() {
    for (address, is_expected) in [
        ("169.254.169.254", (|r| matches!(r, Refusal::Metadata { .. })) as fn(&Refusal) -> bool),
        ("::ffff:169.254.169.254", |r| matches!(r, Refusal::Metadata { .. })),
        ("127.0.0.1", |r| matches!(r, Refusal::Loopback { .. })),
        ("10.0.0.1", |r| matches!(r, Refusal::Private { .. })),
        ("0.0.0.0", |r| matches!(r, Refusal::Reserved { .. })),
    ] {
        let client = Told::new("innocent.example", &[&[address]]).client(&Guard::default());
        let refused = refusal(&client, "http://innocent.example/").await;
        assert!(is_expected(&refused), "{address}: {refused}");
    }
}

#[tokio::test]
async fn one_bad_address_among_good_ones_spoils_the_name() {
    let hostile = ok();
    let named = Endpoint::new("mixed.example", hostile.address().port());
    let guard = Guard::default();
    guard.allow_loopback(named.clone());
    let client = Told::new("mixed.example", &[&["127.0.0.1", "169.254.169.254"]]).client(&guard);
    assert!(matches!(refusal(&client, &format!("http://{named}/")).await, Refusal::Metadata { .. }));
    assert_eq!(hostile.requests(), []);
}

#[tokio::test]
async fn a_name_that_changes_its_answer_is_judged_at_each_connection() {
    let hostile = HostileServer::start(|_| Behaviour::answer(200, &[("connection", "close")], "{}"));
    let named = Endpoint::new("changing.example", hostile.address().port());
    let guard = Guard::default();
    guard.allow_loopback(named.clone());
    let client = Told::new("changing.example", &[&["127.0.0.1"], &["169.254.169.254"]]).client(&guard);
    let url = format!("http://{named}/");
    client.send(&get(&url)).await.unwrap().body.whole().await.unwrap();
    assert!(matches!(refusal(&client, &url).await, Refusal::Metadata { .. }));
}

#[tokio::test]
async fn an_unknown_name_is_said_to_be_unknown() {
    let client = Told::new("known.example", &[&["127.0.0.1"]]).client(&Guard::default());
    let fault = client.send(&get("http://unknown.example/")).await.unwrap_err();
    assert!(matches!(&fault, CallFault::Name { host, .. } if host == "unknown.example:80"), "{fault}");
}

#[tokio::test]
async fn an_allowed_name_opens_its_own_host_and_port_only() {
    let (hostile, other) = (ok(), ok());
    let guard = Guard::default();
    let named = Endpoint::new("model.example", hostile.address().port());
    guard.allow_loopback(named.clone());
    let client = Told::new("model.example", &[&["127.0.0.1"]]).client(&guard);
    assert!(client.send(&get(&format!("http://{named}/"))).await.is_ok());
    for url in [format!("http://model.example:{}/", other.address().port()), hostile.endpoint()] {
        assert!(matches!(refusal(&client, &url).await, Refusal::Loopback { .. }), "{url}");
    }
    assert_eq!((hostile.requests().len(), other.requests().len()), (1, 0));
}

#[tokio::test]
async fn redirects_are_judged_like_first_addresses() {
    let inner = ok();
    for (to, is_expected) in [
        (
            "http://169.254.169.254/latest/".to_owned(),
            (|r| matches!(r, Refusal::Metadata { .. })) as fn(&Refusal) -> bool,
        ),
        ("http://[::ffff:a9fe:a9fe]/".to_owned(), |r| matches!(r, Refusal::Metadata { .. })),
        ("http://0/".to_owned(), |r| matches!(r, Refusal::Reserved { .. })),
        ("http://10.0.0.1/".to_owned(), |r| matches!(r, Refusal::Private { .. })),
        ("file:///etc/passwd".to_owned(), |r| matches!(r, Refusal::Scheme(_))),
        (inner.endpoint(), |r| matches!(r, Refusal::Loopback { .. })),
    ] {
        for status in [301, 302, 303, 307, 308] {
            let target = to.clone();
            let hostile = HostileServer::start(move |_| Behaviour::redirect(status, &target));
            let refused = refusal(&client(&[hostile.address()]), &hostile.endpoint()).await;
            assert!(is_expected(&refused), "{status} {to}: {refused}");
        }
    }
    assert_eq!(inner.requests(), []);
}

#[tokio::test]
async fn our_own_addresses_are_refused_even_when_they_were_allowed() {
    let own = ok();
    let guard = guard(&[own.address()]);
    guard.allow_loopback(Endpoint::new("localhost", own.address().port()));
    guard.change(|policy| {
        policy.own_addresses.insert(SocketAddr::new([0, 0, 0, 0].into(), own.address().port()));
    });
    let client = Http::new(guard, HttpOptions::default());
    for host in ["127.0.0.1", "localhost", "127.0.0.2", "[::1]", "[::ffff:127.0.0.1]"] {
        let refused = refusal(&client, &format!("http://{host}:{}/", own.address().port())).await;
        assert!(matches!(refused, Refusal::Own(_)), "{host}: {refused}");
    }
    let door = HostileServer::start({
        let own = own.endpoint();
        move |_| Behaviour::redirect(302, &own)
    });
    client.guard().allow_loopback(Endpoint::new("127.0.0.1", door.address().port()));
    assert!(matches!(refusal(&client, &door.endpoint()).await, Refusal::Own(_)));
    assert_eq!(own.requests(), []);
}

#[tokio::test]
async fn a_kept_connection_is_not_used_under_stricter_rules() {
    let hostile = ok();
    let named = Endpoint::new("kept.example", hostile.address().port());
    let guard = guard(&[hostile.address()]);
    guard.allow_loopback(named.clone());
    let client = Told::new("kept.example", &[&["127.0.0.1"]]).client(&guard);
    let urls = [hostile.endpoint(), format!("http://{named}/")];
    for url in &urls {
        client.send(&get(url)).await.unwrap().body.whole().await.unwrap();
    }
    guard.change(|policy| policy.loopback.clear());
    for url in &urls {
        assert!(matches!(refusal(&client, url).await, Refusal::Loopback { .. }), "{url}");
    }
    assert_eq!(hostile.requests().len(), 2);
}

#[tokio::test]
async fn a_loosened_rule_takes_effect_at_once() {
    let hostile = ok();
    let client = client(&[]);
    assert!(matches!(refusal(&client, &hostile.endpoint()).await, Refusal::Loopback { .. }));
    client.guard().allow_loopback(Endpoint::new("127.0.0.1", hostile.address().port()));
    assert!(client.send(&get(&hostile.endpoint())).await.is_ok());
}
