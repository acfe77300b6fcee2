//! The rules of the guard, one by one.

use super::*;

const PORT: u16 = 8080;

fn endpoint(host: &str) -> Endpoint {
    Endpoint::new(host, PORT)
}

fn judge(policy: &Policy, host: &str, address: &str) -> Result<(), Refusal> {
    policy.judge(&endpoint(host), address.parse().unwrap())
}

#[test]
fn spellings_of_a_host_are_one_endpoint() {
    for (left, right) in
        [("LocalHost", "localhost."), ("[::1]", "::1"), ("::ffff:127.0.0.1", "127.0.0.1"), ("0:0:0:0:0:0:0:1", "::1")]
    {
        assert_eq!(endpoint(left), endpoint(right));
    }
    assert_eq!(endpoint("[::1]").to_string(), "[::1]:8080");
    assert_ne!(Endpoint::new("localhost", 1), Endpoint::new("localhost", 2));
}

#[test]
fn the_public_internet_needs_no_permission() {
    assert_eq!(judge(&Policy::default(), "api.example", "1.1.1.1"), Ok(()));
}

#[test]
fn loopback_is_allowed_by_host_and_port_only() {
    let policy = Policy { loopback: BTreeSet::from([endpoint("localhost")]), ..Policy::default() };
    assert_eq!(judge(&policy, "localhost", "127.0.0.1"), Ok(()));
    assert_eq!(judge(&policy, "localhost", "::1"), Ok(()));
    let refused = |host| Err(Refusal::Loopback { endpoint: endpoint(host) });
    assert_eq!(judge(&policy, "rebinding.example", "127.0.0.1"), refused("rebinding.example"));
    assert_eq!(judge(&policy, "127.0.0.1", "127.0.0.1"), refused("127.0.0.1"));
    let other_port = Endpoint::new("localhost", PORT + 1);
    let answer = policy.judge(&other_port, "127.0.0.1".parse().unwrap());
    assert_eq!(answer, Err(Refusal::Loopback { endpoint: other_port }));
}

#[test]
fn an_allowed_loopback_name_opens_nothing_else() {
    let policy = Policy { loopback: BTreeSet::from([endpoint("localhost")]), ..Policy::default() };
    assert!(matches!(judge(&policy, "localhost", "10.0.0.1"), Err(Refusal::Private { .. })));
    assert!(matches!(judge(&policy, "localhost", "169.254.169.254"), Err(Refusal::Metadata { .. })));
}

#[test]
fn private_networks_are_allowed_by_configuration() {
    let policy = Policy { private: vec!["10.1.0.0/16".parse().unwrap()], ..Policy::default() };
    assert_eq!(judge(&policy, "db.example", "10.1.2.3"), Ok(()));
    assert_eq!(judge(&policy, "db.example", "::ffff:10.1.2.3"), Ok(()));
    assert!(matches!(judge(&policy, "db.example", "10.2.0.1"), Err(Refusal::Private { .. })));
}

#[test]
fn the_configuration_cannot_open_loopback_metadata_or_reserved_addresses() {
    let all = ["0.0.0.0/0", "::/0"].map(|network| network.parse().unwrap());
    let policy = Policy { private: all.to_vec(), ..Policy::default() };
    assert!(matches!(judge(&policy, "x", "127.0.0.1"), Err(Refusal::Loopback { .. })));
    for address in ["169.254.169.254", "fd00:ec2::254", "100.100.100.200", "fe80::1"] {
        assert!(matches!(judge(&policy, "x", address), Err(Refusal::Metadata { .. })), "{address}");
    }
    for address in ["0.0.0.0", "::", "255.255.255.255", "224.0.0.1", "ff02::1"] {
        assert!(matches!(judge(&policy, "x", address), Err(Refusal::Reserved { .. })), "{address}");
    }
}

#[test]
fn our_own_port_is_refused_on_every_address_of_this_machine() {
    let own = |listening: &str| Policy {
        own_addresses: BTreeSet::from([SocketAddr::new(listening.parse().unwrap(), PORT)]),
        loopback: BTreeSet::from(["localhost", "127.0.0.1", "::1", "127.0.0.2"].map(endpoint)),
        private: vec!["10.0.0.0/8".parse().unwrap()],
        ..Policy::default()
    };
    for listening in ["127.0.0.1", "0.0.0.0", "::"] {
        for (host, address) in [("localhost", "127.0.0.1"), ("localhost", "::1"), ("127.0.0.2", "127.0.0.2")] {
            assert_eq!(judge(&own(listening), host, address), Err(Refusal::Own(endpoint(host))), "{listening}");
        }
    }
    assert_eq!(judge(&own("10.0.0.7"), "x", "10.0.0.7"), Err(Refusal::Own(endpoint("x"))));
    assert_eq!(judge(&own("10.0.0.7"), "x", "::ffff:10.0.0.7"), Err(Refusal::Own(endpoint("x"))));
    let other_port = Endpoint::new("::1", PORT + 1);
    assert!(matches!(own("::").judge(&other_port, "::1".parse().unwrap()), Err(Refusal::Loopback { .. })));
}

#[test]
fn our_own_name_is_refused_wherever_it_leads() {
    let policy = Policy { own_names: BTreeSet::from([endpoint("skein.example")]), ..Policy::default() };
    assert_eq!(judge(&policy, "Skein.Example.", "1.1.1.1"), Err(Refusal::Own(endpoint("skein.example"))));
}

#[test]
fn a_change_is_seen_by_every_handle_and_counted_once() {
    let guard = Guard::default();
    let other = guard.clone();
    let local = "127.0.0.1".parse().unwrap();
    assert!(other.judge(&endpoint("localhost"), local).is_err());
    guard.allow_loopback(endpoint("localhost"));
    guard.allow_loopback(endpoint("localhost"));
    assert_eq!(other.judge(&endpoint("localhost"), local), Ok(()));
    assert_eq!(other.generation(), 1);
    other.withdraw_loopback(&endpoint("localhost"));
    assert!(guard.judge(&endpoint("localhost"), local).is_err());
    assert_eq!(guard.generation(), 2);
}
