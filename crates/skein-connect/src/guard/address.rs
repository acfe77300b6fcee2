//! Classifies an address: loopback, private, link-local, public. Every notation of one address gives one class.
//!
//! An IPv6 address may carry an IPv4 address inside, which is where the packets end up. Such an address
//! is judged by what it carries. Start at [`kind`].

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::network::Network;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Public,
    Loopback,
    /// Somebody's own network: reached only when the configuration says so.
    Private,
    /// Where clouds keep the credentials of their machines, and the links such addresses live on.
    Metadata,
    /// No single machine: unspecified, multicast, broadcast, documentation, reserved.
    Reserved,
}

/// The address packets go to: an IPv4 address written as IPv6 is that IPv4 address.
pub(super) fn plain(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(six) => six.to_ipv4_mapped().map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    }
}

pub(super) fn kind(address: IpAddr) -> Kind {
    match plain(address) {
        IpAddr::V4(four) => kind_of_four(four),
        IpAddr::V6(six) => kind_of_six(six),
    }
}

const fn four(a: u8, b: u8, c: u8, d: u8, prefix: u8) -> Network {
    Network::new(IpAddr::V4(Ipv4Addr::new(a, b, c, d)), prefix)
}

const fn six(bits: u128, prefix: u8) -> Network {
    Network::new(IpAddr::V6(Ipv6Addr::from_bits(bits)), prefix)
}

/// Link-local as a whole (most clouds), then Alibaba, Azure's host, Oracle.
const METADATA_FOUR: [Network; 4] =
    [four(169, 254, 0, 0, 16), four(100, 100, 100, 200, 32), four(168, 63, 129, 16, 32), four(192, 0, 0, 192, 32)];
/// Link-local as a whole, then AWS, Google, Scaleway, Oracle.
const METADATA_SIX: [Network; 5] = [
    six(0xfe80 << 112, 10),
    six(0xfd00_0ec2 << 96, 32),
    six(0xfd20_00ce << 96, 32),
    six(0xfd00_0042 << 96, 32),
    six(0xfd00_00c1 << 96, 32),
];

const PRIVATE_FOUR: [Network; 4] =
    [four(10, 0, 0, 0, 8), four(172, 16, 0, 0, 12), four(192, 168, 0, 0, 16), four(100, 64, 0, 0, 10)];
const PRIVATE_SIX: Network = six(0xfc00 << 112, 7);

/// "This network", protocol assignments, documentation, old 6to4 relays, measurements, multicast, reserved and broadcast.
const RESERVED_FOUR: [Network; 9] = [
    four(0, 0, 0, 0, 8),
    four(192, 0, 0, 0, 24),
    four(192, 0, 2, 0, 24),
    four(192, 88, 99, 0, 24),
    four(198, 18, 0, 0, 15),
    four(198, 51, 100, 0, 24),
    four(203, 0, 113, 0, 24),
    four(224, 0, 0, 0, 4),
    four(240, 0, 0, 0, 4),
];

/// What is handed out for the public Internet; everything else is reserved unless named above.
const GLOBAL_SIX: Network = six(0x2000 << 112, 3);
/// Protocol assignments with Teredo, documentation twice.
const RESERVED_SIX: [Network; 3] = [six(0x2001 << 112, 23), six(0x2001_0db8 << 96, 32), six(0x3fff << 112, 20)];

fn is_in(networks: &[Network], address: IpAddr) -> bool {
    networks.iter().any(|network| network.contains(address))
}

fn kind_of_four(address: Ipv4Addr) -> Kind {
    let ip = IpAddr::V4(address);
    if is_in(&METADATA_FOUR, ip) {
        Kind::Metadata
    } else if address.is_loopback() {
        Kind::Loopback
    } else if is_in(&RESERVED_FOUR, ip) {
        Kind::Reserved
    } else if is_in(&PRIVATE_FOUR, ip) {
        Kind::Private
    } else {
        Kind::Public
    }
}

fn kind_of_six(address: Ipv6Addr) -> Kind {
    let ip = IpAddr::V6(address);
    if address.is_loopback() {
        return Kind::Loopback;
    }
    if let Some(carried) = carried(address) {
        // A gateway between us and it may see what we may not; so only what is public is carried.
        return match kind_of_four(carried) {
            Kind::Public => Kind::Public,
            Kind::Metadata => Kind::Metadata,
            Kind::Loopback | Kind::Private | Kind::Reserved => Kind::Reserved,
        };
    }
    if is_in(&METADATA_SIX, ip) {
        Kind::Metadata
    } else if PRIVATE_SIX.contains(ip) {
        Kind::Private
    } else if !GLOBAL_SIX.contains(ip) || is_in(&RESERVED_SIX, ip) {
        Kind::Reserved
    } else {
        Kind::Public
    }
}

/// The IPv4 address a translator or tunnel takes out of this one: IPv4-compatible, translated, NAT64, 6to4, ISATAP.
fn carried(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let bits = address.to_bits();
    let thirty_two_above = |rest: u32| Ipv4Addr::from_bits(u32::try_from(bits >> rest & 0xffff_ffff).unwrap_or(0));
    if matches!(bits >> 32, 0 | 0xffff_0000) || bits >> 32 == 0x64_ff9b << 64 {
        Some(thirty_two_above(0))
    } else if bits >> 112 == 0x2002 {
        Some(thirty_two_above(80))
    } else if matches!(bits >> 32 & 0xffff_ffff, 0x5efe | 0x0200_5efe) {
        Some(thirty_two_above(0))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(addresses: &[&str], expected: Kind) {
        for address in addresses {
            assert_eq!(kind(address.parse().unwrap()), expected, "{address}");
        }
    }

    #[test]
    fn public_addresses_are_public_however_they_are_carried() {
        check(&["1.1.1.1", "93.184.216.34", "100.63.255.255", "100.128.0.0", "172.32.0.1", "11.0.0.1"], Kind::Public);
        check(
            &["2606:4700::1111", "2a00:1450::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1"],
            Kind::Public,
        );
    }

    #[test]
    fn loopback_is_loopback() {
        check(
            &["127.0.0.1", "127.0.0.2", "127.255.255.255", "::1", "::ffff:127.0.0.1", "::ffff:7f00:1"],
            Kind::Loopback,
        );
    }

    #[test]
    fn private_ranges_are_private_to_their_last_address() {
        check(&["10.0.0.0", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.1.1"], Kind::Private);
        check(&["100.64.0.1", "100.127.255.255", "fc00::1", "fdff::1", "::ffff:10.0.0.1"], Kind::Private);
    }

    #[test]
    fn metadata_addresses_are_known_in_every_cloud_and_spelling() {
        check(&["169.254.169.254", "169.254.170.2", "169.254.0.1", "100.100.100.200", "168.63.129.16"], Kind::Metadata);
        check(&["192.0.0.192", "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "fe80::1", "febf::1"], Kind::Metadata);
        check(&["fd00:42::42", "fd00:c1::a9fe:a9fe"], Kind::Metadata);
        check(
            &["::ffff:169.254.169.254", "::169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::"],
            Kind::Metadata,
        );
        check(&["::ffff:0:169.254.169.254", "2a00::5efe:169.254.169.254", "2a00::200:5efe:a9fe:a9fe"], Kind::Metadata);
    }

    #[test]
    fn places_that_are_no_machine_are_reserved() {
        check(&["0.0.0.0", "0.1.2.3", "255.255.255.255", "224.0.0.1", "239.1.1.1", "240.0.0.1"], Kind::Reserved);
        check(&["192.0.2.1", "198.51.100.1", "203.0.113.1", "198.18.0.1", "192.0.0.1", "192.88.99.1"], Kind::Reserved);
        check(&["::", "ff02::1", "2001:db8::1", "3fff::1", "2001::1", "fec0::1", "100::1", "5f00::1"], Kind::Reserved);
        check(
            &["64:ff9b:1::1", "::2", "::10.0.0.1", "64:ff9b::127.0.0.1", "2002:7f00:1::", "2002:c0a8:1::"],
            Kind::Reserved,
        );
        check(&["::ffff:0.0.0.0", "4000::1", "2a00::5efe:10.0.0.1"], Kind::Reserved);
    }
}
