//! A range of addresses, written as `10.0.0.0/8`.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// All addresses that share the first `prefix` bits of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    prefix: u8,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a network; write an address and the bits it shares, such as 10.0.0.0/8 or fd12:3456::/32")]
pub struct BadNetwork(String);

impl Network {
    pub(super) const fn new(address: IpAddr, prefix: u8) -> Self {
        Self { address, prefix }
    }

    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(network), IpAddr::V4(address)) => {
                let different = network.to_bits() ^ address.to_bits();
                different.checked_shr(u32::BITS - u32::from(self.prefix)).unwrap_or(0) == 0
            }
            (IpAddr::V6(network), IpAddr::V6(address)) => {
                let different = network.to_bits() ^ address.to_bits();
                different.checked_shr(u128::BITS - u32::from(self.prefix)).unwrap_or(0) == 0
            }
            _ => false,
        }
    }
}

impl FromStr for Network {
    type Err = BadNetwork;

    /// A lone address is a network of one.
    fn from_str(raw: &str) -> Result<Self, BadNetwork> {
        let bad = || BadNetwork(raw.to_owned());
        let (address, prefix) = raw.split_once('/').map_or((raw, None), |(address, prefix)| (address, Some(prefix)));
        let address: IpAddr = address.parse().map_err(|_| bad())?;
        let bits = if address.is_ipv4() { 32 } else { 128 };
        let prefix = prefix.map_or(Ok(bits), str::parse).map_err(|_| bad())?;
        if prefix > bits {
            return Err(bad());
        }
        Ok(Self { address, prefix })
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_holds_what_shares_its_bits() {
        let check = |network: &str, address: &str, expected| {
            let network: Network = network.parse().unwrap();
            assert_eq!(network.contains(address.parse().unwrap()), expected, "{address} in {network}");
        };
        check("10.0.0.0/8", "10.255.0.1", true);
        check("10.0.0.0/8", "11.0.0.0", false);
        check("10.1.2.3", "10.1.2.3", true);
        check("10.1.2.3", "10.1.2.4", false);
        check("0.0.0.0/0", "8.8.8.8", true);
        check("::/0", "2a00::1", true);
        check("::/0", "1.2.3.4", false);
        check("fd12:3456::/32", "fd12:3456:ffff::1", true);
        check("fd12:3456::/32", "fd12:3457::1", false);
    }

    #[test]
    fn what_is_no_network_is_refused() {
        for raw in ["", "10.0.0.0/33", "fd00::/129", "10.0.0/8", "name/8", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8/8"] {
            assert_eq!(raw.parse::<Network>(), Err(BadNetwork(raw.to_owned())));
        }
    }
}
