//! Judges a decision to allow an endpoint on this machine: one that would have no effect is refused.
//!
//! No name is looked up, because its addresses may be others tomorrow: each is judged when it is connected to.

use std::net::{IpAddr, Ipv4Addr};

use reqwest::Url;

use super::address::{self, Kind};
use super::{Endpoint, Guard, Policy, Refusal};

const LOCALHOST: &str = "localhost";

/// Why allowing an endpoint would have no effect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IneffectiveDecision {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error("{0} is called without a decision")]
    Needless(Endpoint),
    #[error("calls to this host go to {0}, so a decision has to name {0}")]
    Spelling(Endpoint),
    #[error("{0} is no host that an address can name")]
    Host(Endpoint),
}

impl Guard {
    /// Refuses a decision about an endpoint that is never called, or that is called anyway.
    pub fn check_decision(&self, endpoint: &Endpoint) -> Result<(), IneffectiveDecision> {
        self.policy().check_decision(endpoint)
    }
}

impl Policy {
    fn check_decision(&self, endpoint: &Endpoint) -> Result<(), IneffectiveDecision> {
        let called = as_called(endpoint).ok_or_else(|| IneffectiveDecision::Host(endpoint.clone()))?;
        if called != *endpoint {
            return Err(IneffectiveDecision::Spelling(called));
        }
        if self.own_names.contains(endpoint) {
            return Err(Refusal::Own(endpoint.clone()).into());
        }
        let Some(address) = known_address(endpoint.host()) else { return Ok(()) };
        match self.judge(endpoint, address) {
            Err(Refusal::Loopback { .. }) => Ok(()),
            Ok(()) if address::kind(address) == Kind::Loopback => Ok(()),
            Ok(()) => Err(IneffectiveDecision::Needless(endpoint.clone())),
            Err(refusal) => Err(refusal.into()),
        }
    }
}

/// The endpoint that a URL with this host and port leads to: URLs read `2130706433` as `127.0.0.1`.
fn as_called(endpoint: &Endpoint) -> Option<Endpoint> {
    let url = Url::parse(&format!("http://{endpoint}/")).ok()?;
    Some(Endpoint::new(url.host_str()?, endpoint.port()))
}

/// The address of a host name that every resolver resolves alike; nothing for any other name.
fn known_address(host: &str) -> Option<IpAddr> {
    let is_here = host == LOCALHOST || host.strip_suffix(LOCALHOST).is_some_and(|start| start.ends_with('.'));
    host.parse().ok().or_else(|| is_here.then_some(IpAddr::V4(Ipv4Addr::LOCALHOST)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN_PORT: u16 = 7420;

    fn check(host: &str, port: u16) -> Result<(), IneffectiveDecision> {
        let policy = Policy {
            own_addresses: [([127, 0, 0, 1], OWN_PORT).into()].into(),
            own_names: [Endpoint::new("skein.example", 443)].into(),
            private: vec!["10.1.0.0/16".parse().unwrap()],
            ..Policy::default()
        };
        policy.check_decision(&Endpoint::new(host, port))
    }

    #[test]
    fn z24_a_decision_about_loopback_or_a_name_holds() {
        for host in
            ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "localhost", "LOCALHOST.", "ollama", "db.example"]
        {
            assert_eq!(check(host, 11_434), Ok(()), "{host}");
        }
        assert_eq!(check("skein.example", 80), Ok(()));
    }

    #[test]
    fn z24_a_decision_about_this_server_refuses() {
        for host in ["127.0.0.1", "localhost", "a.localhost", "::1", "127.0.0.2"] {
            assert!(matches!(check(host, OWN_PORT), Err(IneffectiveDecision::Refused(Refusal::Own(_)))), "{host}");
        }
        assert!(matches!(check("Skein.Example", 443), Err(IneffectiveDecision::Refused(Refusal::Own(_)))));
    }

    #[test]
    fn z24_a_decision_about_an_address_that_is_never_called_refuses() {
        for host in ["169.254.169.254", "::ffff:169.254.169.254", "fd00:ec2::254", "100.100.100.200"] {
            let refused = check(host, 80);
            assert!(matches!(refused, Err(IneffectiveDecision::Refused(Refusal::Metadata { .. }))), "{host}");
        }
        for host in ["0.0.0.0", "::", "255.255.255.255", "224.0.0.1"] {
            let refused = check(host, 80);
            assert!(matches!(refused, Err(IneffectiveDecision::Refused(Refusal::Reserved { .. }))), "{host}");
        }
        assert!(matches!(check("10.2.0.1", 80), Err(IneffectiveDecision::Refused(Refusal::Private { .. }))));
    }

    #[test]
    fn z24_a_decision_that_changes_nothing_refuses() {
        for host in ["1.1.1.1", "10.1.0.1"] {
            assert!(matches!(check(host, 80), Err(IneffectiveDecision::Needless(_))), "{host}");
        }
        for host in ["2130706433", "0x7f.1", "127.1"] {
            assert_eq!(check(host, 80), Err(IneffectiveDecision::Spelling(Endpoint::new("127.0.0.1", 80))), "{host}");
        }
        assert!(matches!(check("1.2.3.4.5", 80), Err(IneffectiveDecision::Host(_))));
    }
}
