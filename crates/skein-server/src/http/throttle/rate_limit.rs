//! Limits the rate of requests from one address (decision Z27).
//!
//! Each address has one moment: when its allowance would be whole again. A request moves it on by one interval and is
//! refused when that lies too far ahead. Programs on this machine are not limited, so a server that listens on a
//! loopback address, which has no other clients, limits nobody.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::Request;

use crate::http::error::ApiError;
use crate::http::limits::{RATE_ADDRESSES_MAX, RATE_BURST_REQUESTS, RATE_INTERVAL};
use crate::http::listen::Peer;

/// How far ahead the moment of an address may lie.
const AHEAD_MAX: Duration = RATE_INTERVAL.saturating_mul(RATE_BURST_REQUESTS - 1);

/// Everybody's allowance.
#[derive(Debug)]
pub(crate) struct RateLimits(Mutex<Allowances>);

#[derive(Debug, PartialEq, Eq)]
struct RateLimited;

impl RateLimits {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Allowances { whole_at: HashMap::new(), swept_at: Instant::now() }))
    }

    pub(crate) fn admit(&self, request: &Request) -> Result<(), ApiError> {
        let peer = request.extensions().get().map(|visitor: &Peer| visitor.address().ip());
        self.check(peer, Instant::now()).map_err(|RateLimited| ApiError::rate_limited())
    }

    fn check(&self, peer: Option<IpAddr>, now: Instant) -> Result<(), RateLimited> {
        let Some(client) = peer.and_then(Client::of) else { return Ok(()) };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take(client, now)
    }
}

/// Who shares an allowance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Client {
    V4(Ipv4Addr),
    /// The first 64 bits: one subscriber usually has all addresses that begin so.
    V6([u16; 4]),
    /// Everybody who came when too many others were there.
    Latecomer,
}

impl Client {
    /// Nobody for this machine itself.
    fn of(address: IpAddr) -> Option<Self> {
        match address.to_canonical() {
            address if address.is_loopback() => None,
            IpAddr::V4(address) => Some(Self::V4(address)),
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                Some(Self::V6([a, b, c, d]))
            }
        }
    }
}

#[derive(Debug)]
struct Allowances {
    whole_at: HashMap<Client, Instant>,
    swept_at: Instant,
}

impl Allowances {
    fn take(&mut self, client: Client, now: Instant) -> Result<(), RateLimited> {
        let client = self.seated(client, now);
        let whole_at = after_one_more(self.whole_at.get(&client).copied(), now)?;
        self.whole_at.insert(client, whole_at);
        Ok(())
    }

    /// The client itself where there is room for it. Whoever's allowance is whole again is forgotten first, at most
    /// once in the time it takes to become whole.
    fn seated(&mut self, client: Client, now: Instant) -> Client {
        if self.whole_at.len() < RATE_ADDRESSES_MAX || self.whole_at.contains_key(&client) {
            return client;
        }
        if now.saturating_duration_since(self.swept_at) >= AHEAD_MAX {
            self.whole_at.retain(|_, whole_at| *whole_at > now);
            self.swept_at = now;
        }
        if self.whole_at.len() < RATE_ADDRESSES_MAX { client } else { Client::Latecomer }
    }
}

/// When the allowance is whole after another request at `now`.
fn after_one_more(whole_at: Option<Instant>, now: Instant) -> Result<Instant, RateLimited> {
    let whole_at = whole_at.map_or(now, |whole_at| whole_at.max(now));
    if whole_at - now > AHEAD_MAX { Err(RateLimited) } else { Ok(whole_at + RATE_INTERVAL) }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv6Addr;

    use super::*;

    const STRANGER: IpAddr = IpAddr::V4(Ipv4Addr::new(203, 0, 113, 7));

    /// How many of many requests at one moment pass.
    fn passing(limits: &RateLimits, peer: IpAddr, now: Instant) -> u32 {
        (0..1_000).map(|_| u32::from(limits.check(Some(peer), now).is_ok())).sum()
    }

    #[test]
    fn a_burst_passes_and_then_one_per_interval() {
        let (limits, now) = (RateLimits::new(), Instant::now());
        assert_eq!(passing(&limits, STRANGER, now), RATE_BURST_REQUESTS);
        assert_eq!(passing(&limits, STRANGER, now + RATE_INTERVAL), 1);
        assert_eq!(passing(&limits, STRANGER, now + RATE_INTERVAL * 11), 10);
        assert_eq!(passing(&limits, STRANGER, now + Duration::from_mins(1)), RATE_BURST_REQUESTS);
    }

    #[test]
    fn this_machine_is_not_limited() {
        let (limits, now) = (RateLimits::new(), Instant::now());
        let mapped = IpAddr::V6(Ipv4Addr::LOCALHOST.to_ipv6_mapped());
        for peer in [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST), mapped] {
            assert_eq!(passing(&limits, peer, now), 1_000);
        }
    }

    #[test]
    fn addresses_of_one_subscriber_count_together_and_of_others_apart() {
        let (limits, now) = (RateLimits::new(), Instant::now());
        assert_eq!(passing(&limits, "2001:db8:1:2::1".parse().unwrap(), now), RATE_BURST_REQUESTS);
        assert_eq!(passing(&limits, "2001:db8:1:2:ffff::9".parse().unwrap(), now), 0);
        assert_eq!(passing(&limits, "2001:db8:1:3::1".parse().unwrap(), now), RATE_BURST_REQUESTS);
        assert_eq!(passing(&limits, STRANGER, now), RATE_BURST_REQUESTS);
        assert_eq!(passing(&limits, IpAddr::V6(Ipv4Addr::new(203, 0, 113, 7).to_ipv6_mapped()), now), 0);
    }

    #[test]
    fn a_crowd_takes_bounded_memory_and_latecomers_share() {
        let (limits, now) = (RateLimits::new(), Instant::now());
        let crowd = (0..u32::try_from(RATE_ADDRESSES_MAX).unwrap()).map(|n| IpAddr::V4((0x0a00_0000 + n).into()));
        assert!(crowd.clone().all(|peer| limits.check(Some(peer), now).is_ok()));
        assert_eq!(passing(&limits, STRANGER, now), RATE_BURST_REQUESTS);
        assert_eq!(passing(&limits, "198.51.100.1".parse().unwrap(), now), 0);
        assert_eq!(limits.0.lock().unwrap().whole_at.len(), RATE_ADDRESSES_MAX + 1);
        assert!(limits.check(Some(STRANGER), now + Duration::from_mins(1)).is_ok());
        assert_eq!(limits.0.lock().unwrap().whole_at.len(), 1);
    }
}
