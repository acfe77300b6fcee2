//! The pooled clients, one per place that is called, each of which can connect to that place only.
//!
//! A client's name service knows the host and port it is for, so it judges each answer together with
//! them, and the addresses it lets through are exactly those that are connected to. Clients made under
//! older rules of the guard are dropped with the connections they kept.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use reqwest::Client;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect::Policy;
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};

use super::fault::{CallFault, NotResolved};
use crate::credential::Identity;
use crate::guard::{Endpoint, Guard};

const PEERS_MAX: usize = 256;
const KEPT_CONNECTIONS_MAX: usize = 16;
const KEPT_TIME_MAX: Duration = Duration::from_mins(1);
const HEAD_BYTES_MAX: u32 = 64 << 10;
const USER_AGENT: &str = concat!("skein/", env!("CARGO_PKG_VERSION"));

/// Who knows the addresses of names. Tests have their own.
pub trait Names: Send + Sync + 'static {
    fn addresses(&self, host: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;
}

/// The name service of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemNames;

impl Names for SystemNames {
    fn addresses(&self, host: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let host = host.to_owned();
        async move { Ok(tokio::net::lookup_host((host, 0)).await?.map(|address| address.ip()).collect()) }.boxed()
    }
}

/// Who is called, and as whom.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Peer {
    pub(super) endpoint: Endpoint,
    pub(super) is_encrypted: bool,
    pub(super) identity: Option<Arc<Identity>>,
}

pub(super) struct Peers {
    guard: Guard,
    names: Arc<dyn Names>,
    connect_time_max: Duration,
    extra_roots: Vec<CertificateDer<'static>>,
    roots: OnceLock<RootCertStore>,
    clients: Mutex<Clients>,
}

#[derive(Default)]
struct Clients {
    kept: HashMap<Peer, PooledClient>,
    uses: u64,
}

struct PooledClient {
    client: Client,
    generation: u64,
    used: u64,
}

impl Peers {
    pub(super) fn new(
        guard: Guard,
        names: Arc<dyn Names>,
        connect_time_max: Duration,
        extra_roots: Vec<CertificateDer<'static>>,
    ) -> Self {
        Self { guard, names, connect_time_max, extra_roots, roots: OnceLock::new(), clients: Mutex::default() }
    }

    /// The client for a peer: the kept one if the rules are still those it was made under, else a new one.
    pub(super) fn client(&self, peer: &Peer) -> Result<Client, CallFault> {
        let generation = self.guard.generation();
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        clients.uses += 1;
        let used = clients.uses;
        if let Some(kept) = clients.kept.get_mut(peer).filter(|kept| kept.generation == generation) {
            kept.used = used;
            return Ok(kept.client.clone());
        }
        clients.kept.retain(|_, kept| kept.generation == generation);
        if clients.kept.len() >= PEERS_MAX {
            let oldest = clients.kept.iter().min_by_key(|(_, kept)| kept.used).map(|(peer, _)| peer.clone());
            oldest.and_then(|oldest| clients.kept.remove(&oldest));
        }
        let client = self.connected_only_to(peer)?;
        clients.kept.insert(peer.clone(), PooledClient { client: client.clone(), generation, used });
        Ok(client)
    }

    fn connected_only_to(&self, peer: &Peer) -> Result<Client, CallFault> {
        let endpoint = peer.endpoint.clone();
        let names = GuardedNames { guard: self.guard.clone(), endpoint, names: Arc::clone(&self.names) };
        let client = Client::builder()
            .tls_backend_preconfigured(self.tls(peer)?)
            .dns_resolver(names)
            .no_proxy()
            .redirect(Policy::none())
            .referer(false)
            .connect_timeout(self.connect_time_max)
            .pool_max_idle_per_host(KEPT_CONNECTIONS_MAX)
            .pool_idle_timeout(KEPT_TIME_MAX)
            .http2_max_header_list_size(HEAD_BYTES_MAX)
            .user_agent(USER_AGENT)
            .build();
        client.map_err(|error| CallFault::Request(error.without_url().to_string()))
    }

    fn tls(&self, peer: &Peer) -> Result<ClientConfig, CallFault> {
        let own_roots = peer.identity.as_ref().and_then(|identity| identity.roots());
        let roots = match own_roots {
            _ if !peer.is_encrypted => RootCertStore::empty(),
            Some(roots) => roots.clone(),
            None => self.roots().clone(),
        };
        let failed =
            |error: rustls::Error| CallFault::Tls { host: peer.endpoint.to_string(), cause: error.to_string() };
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.map_err(failed)?.with_root_certificates(roots);
        let mut config = match &peer.identity {
            Some(identity) => config.with_client_cert_resolver(identity.presented()),
            None => config.with_no_client_auth(),
        };
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(config)
    }

    /// Read when the first encrypted connection needs them: it takes a moment.
    fn roots(&self) -> &RootCertStore {
        self.roots.get_or_init(|| {
            let mut roots = RootCertStore::empty();
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            roots.add_parsable_certificates(self.extra_roots.iter().cloned());
            roots
        })
    }
}

/// The name service of one client.
struct GuardedNames {
    guard: Guard,
    endpoint: Endpoint,
    names: Arc<dyn Names>,
}

impl Resolve for GuardedNames {
    fn resolve(&self, name: Name) -> Resolving {
        let looking_up = self.names.addresses(name.as_str());
        let (guard, endpoint) = (self.guard.clone(), self.endpoint.clone());
        Box::pin(async move {
            let found = looking_up.await.map_err(|error| NotResolved(error.to_string()))?;
            if found.is_empty() {
                return Err(NotResolved("it has no address".to_owned()).into());
            }
            // One bad address among good ones is somebody's attempt, so none of them is used.
            found.iter().try_for_each(|address| guard.judge(&endpoint, *address))?;
            let port = endpoint.port();
            Ok(Box::new(found.into_iter().map(move |address| SocketAddr::new(address, port))) as Addrs)
        })
    }
}
