//! Identifies the peer of a connection, and the limits on its requests.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use super::connection::Stopping;
use crate::http::limits::BODY_TIME_MAX;

/// Every request that came over a connection carries it as an extension: one for all of them, made once.
#[derive(Debug, Clone)]
pub struct Peer(Arc<PeerParts>);

#[derive(Debug)]
struct PeerParts {
    address: SocketAddr,
    /// The address as the log spells it.
    spelled: String,
    body_time_max: Duration,
    stopping: Option<Stopping>,
}

impl Peer {
    /// Somebody at this address, under the usual limits.
    pub fn at(address: SocketAddr) -> Self {
        Self::made(address, BODY_TIME_MAX, None)
    }

    pub(super) fn made(address: SocketAddr, body_time_max: Duration, stopping: Option<Stopping>) -> Self {
        Self(Arc::new(PeerParts { address, spelled: address.to_string(), body_time_max, stopping }))
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.0.address
    }

    pub(crate) fn spelled(&self) -> &str {
        &self.0.spelled
    }

    /// How long the body of a request may take.
    pub(crate) fn body_time_max(&self) -> Duration {
        self.0.body_time_max
    }

    /// Tells that the server is about to stop, for answers that would not end by themselves.
    pub(crate) fn stopping(&self) -> Option<Stopping> {
        self.0.stopping.clone()
    }
}
