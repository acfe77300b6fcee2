//! Judges every address a call would really connect to, wherever the address came from.
//!
//! An address typed as a number, a name's answer, a redirect's target all end as an IP address and a
//! port, and that is what is judged, at the moment of connecting. Never allowed: our own listening
//! addresses, metadata addresses, and addresses that are no machine. Loopback is allowed per host and
//! port, other private networks by configuration. The rules can change while calls are running; a
//! [`Guard`] is a cheap handle to them. Start at [`Guard::judge`].

mod address;
mod decision;
mod network;

use std::collections::BTreeSet;
use std::fmt;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use address::Kind;

pub use decision::IneffectiveDecision;
pub use network::{BadNetwork, Network};

/// A host as a URL names it, and a port.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint {
    host: String,
    port: u16,
}

impl Endpoint {
    /// Spellings of one host are one endpoint: letter case, a final dot, brackets, and every way to write an address.
    pub fn new(host: &str, port: u16) -> Self {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let host = match host.parse::<IpAddr>() {
            Ok(ip) => address::plain(ip).to_string(),
            Err(_) => host.trim_end_matches('.').to_ascii_lowercase(),
        };
        Self { host, port }
    }

    pub fn host(&self) -> &str {
        &self.host
    }

    pub fn port(&self) -> u16 {
        self.port
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let brackets = if self.host.contains(':') { ("[", "]") } else { ("", "") };
        write!(f, "{}{}{}:{}", brackets.0, self.host, brackets.1, self.port)
    }
}

/// What may be connected to beyond the public Internet, and what of it may not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    /// Where this server listens. An unspecified address stands for every address of this machine.
    pub own_addresses: BTreeSet<SocketAddr>,
    /// Names under which this server is reached from outside.
    pub own_names: BTreeSet<Endpoint>,
    /// Endpoints on this machine that an administrator has allowed.
    pub loopback: BTreeSet<Endpoint>,
    /// Private networks that the configuration allows.
    pub private: Vec<Network>,
}

/// Why an address is not connected to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("{0:?} is not a scheme that calls may use; use http or https")]
    Scheme(String),
    #[error("{0} is this server itself; a service must be somebody else")]
    Own(Endpoint),
    #[error("{endpoint} leads to {address}, a metadata or link-local address, which is never called")]
    Metadata { endpoint: Endpoint, address: IpAddr },
    #[error("{endpoint} leads to {address}, which is reserved and no machine's address; correct the endpoint")]
    Reserved { endpoint: Endpoint, address: IpAddr },
    #[error("{endpoint} is on the machine of this server; an administrator can allow this host and port")]
    Loopback { endpoint: Endpoint },
    #[error(
        "{endpoint} leads to {address} in a private network; the configuration of this server can allow its network"
    )]
    Private { endpoint: Endpoint, address: IpAddr },
}

/// A handle to the rules in force. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Guard(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    policy: RwLock<Arc<Policy>>,
    /// Grows with every change, so that connections made under older rules are recognised.
    generation: AtomicU64,
}

impl Guard {
    pub fn new(policy: Policy) -> Self {
        Self(Arc::new(Shared { policy: RwLock::new(Arc::new(policy)), generation: AtomicU64::new(0) }))
    }

    /// For one endpoint that stands in the configuration, wherever it is: who configures a server decides whom it talks to
    /// (decision Z24). What is no machine's address, or one of metadata, is refused all the same.
    pub fn of_configured(endpoint: Endpoint) -> Self {
        let everywhere = ["0.0.0.0/0", "::/0"].map(|network| network.parse().expect("these are networks"));
        let loopback = [endpoint].into_iter().collect();
        Self::new(Policy { loopback, private: everywhere.to_vec(), ..Policy::default() })
    }

    pub fn policy(&self) -> Arc<Policy> {
        Arc::clone(&self.0.policy.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes the rules for everything that connects from now on, including connections kept from before.
    pub fn change(&self, change: impl FnOnce(&mut Policy)) {
        let mut policy = self.0.policy.write().unwrap_or_else(PoisonError::into_inner);
        let mut changed = Policy::clone(&policy);
        change(&mut changed);
        if changed != **policy {
            *policy = Arc::new(changed);
            self.0.generation.fetch_add(1, Ordering::Release);
        }
    }

    pub fn allow_loopback(&self, endpoint: Endpoint) {
        self.change(|policy| {
            policy.loopback.insert(endpoint);
        });
    }

    pub fn withdraw_loopback(&self, endpoint: &Endpoint) {
        self.change(|policy| {
            policy.loopback.remove(endpoint);
        });
    }

    pub(crate) fn generation(&self) -> u64 {
        self.0.generation.load(Ordering::Acquire)
    }

    /// Whether a call to `endpoint` may connect to `address`, which is what the endpoint's host stands for right now.
    pub fn judge(&self, endpoint: &Endpoint, address: IpAddr) -> Result<(), Refusal> {
        self.policy().judge(endpoint, address)
    }
}

impl Policy {
    fn judge(&self, endpoint: &Endpoint, address: IpAddr) -> Result<(), Refusal> {
        let address = address::plain(address);
        if self.is_own(endpoint, address) {
            return Err(Refusal::Own(endpoint.clone()));
        }
        let endpoint = || endpoint.clone();
        match address::kind(address) {
            Kind::Public => Ok(()),
            Kind::Metadata => Err(Refusal::Metadata { endpoint: endpoint(), address }),
            Kind::Reserved => Err(Refusal::Reserved { endpoint: endpoint(), address }),
            Kind::Loopback if self.loopback.contains(&endpoint()) => Ok(()),
            Kind::Loopback => Err(Refusal::Loopback { endpoint: endpoint() }),
            Kind::Private if self.private.iter().any(|network| network.contains(address)) => Ok(()),
            Kind::Private => Err(Refusal::Private { endpoint: endpoint(), address }),
        }
    }

    /// Our port on any address of this machine is us: what we did not bind ourselves may be forwarded to us.
    fn is_own(&self, endpoint: &Endpoint, address: IpAddr) -> bool {
        if self.own_names.contains(endpoint) {
            return true;
        }
        let mut own = self.own_addresses.iter().filter(|own| own.port() == endpoint.port).peekable();
        if own.peek().is_none() {
            return false;
        }
        own.any(|own| address::plain(own.ip()) == address)
            || matches!(address::kind(address), Kind::Loopback)
            || is_of_this_machine(address)
    }
}

/// Only an address of one's own can be bound, and that is asked anew each time because interfaces come and go.
fn is_of_this_machine(address: IpAddr) -> bool {
    UdpSocket::bind((address, 0)).is_ok()
}

#[cfg(test)]
mod tests;
