//! Which IP addresses are not public, and why.
//!
//! The tables are IANA's special-purpose registries (RFC 6890 and its updates). An IPv6 address that carries an IPv4
//! address is judged by what it carries, because a translator or tunnel would deliver the packet there.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use flowmcp_plugin::NetworkAccess;

/// Kind of an instance-metadata address: refused for packs with `allow_local` too, since it hands out credentials.
const METADATA: &str = "cloud metadata";

/// Why `address` may not be reached, or `None` if it may.
pub(crate) fn refusal(address: IpAddr, network: NetworkAccess) -> Option<&'static str> {
    let kind = special_kind(address)?;
    match network {
        NetworkAccess::Public => Some(kind),
        NetworkAccess::Local => (kind == METADATA).then_some(kind),
    }
}

/// The kind of an address that is not public: `loopback`, `private`, `link-local`, …
pub(crate) fn special_kind(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => v4_kind(address),
        IpAddr::V6(address) => v6_kind(address),
    }
}

fn v4_kind(address: Ipv4Addr) -> Option<&'static str> {
    // Amazon and most others, Amazon ECS (two), Alibaba, Azure's wire server (in public space), Oracle.
    match address.octets() {
        [169, 254, 169, 254]
        | [169, 254, 170, 2 | 23]
        | [100, 100, 100, 200]
        | [168, 63, 129, 16]
        | [192, 0, 0, 192] => Some(METADATA),
        [0, ..] => Some("unspecified"),
        [127, ..] => Some("loopback"),
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => Some("private"),
        [100, 64..=127, ..] => Some("carrier-grade NAT"),
        [169, 254, ..] => Some("link-local"),
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => Some("documentation"),
        [198, 18 | 19, ..] => Some("benchmarking"),
        // 192.0.0.9 and .10 are globally reachable anycast, but nothing that a schema calls lives there.
        [192, 0, 0, _] | [192, 88, 99, _] => Some("reserved"),
        [224..=239, ..] => Some("multicast"),
        [255, 255, 255, 255] => Some("broadcast"),
        [240..=255, ..] => Some("reserved"),
        _ => None,
    }
}

fn v6_kind(address: Ipv6Addr) -> Option<&'static str> {
    let carried = |high: u16, low: u16| {
        let [[a, b], [c, d]] = [high.to_be_bytes(), low.to_be_bytes()];
        v4_kind(Ipv4Addr::new(a, b, c, d))
    };
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => Some("unspecified"),
        [0, 0, 0, 0, 0, 0, 0, 1] => Some("loopback"),
        // IPv4-mapped, IPv4-translated (RFC 2765) and NAT64 (RFC 6052).
        [0, 0, 0, 0, 0, 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => carried(high, low),
        // IPv4-compatible addresses are abolished: none is a public host.
        [0, 0, 0, 0, 0, 0, high, low] => Some(carried(high, low).unwrap_or("reserved")),
        // NAT64 inside one network (RFC 8215).
        [0x64, 0xff9b, 1, ..] => Some("private"),
        [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254]
        | [0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254]
        | [0xfd00, 0xc1, 0, 0, 0, 0, 0xa9fe, 0xa9fe] => Some(METADATA),
        [0xfc00..=0xfdff, ..] => Some("private"),
        [0xfe80..=0xfebf, ..] => Some("link-local"),
        [0xfec0..=0xfeff, ..] => Some("private"),
        [0xff00..=0xffff, ..] => Some("multicast"),
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => Some("documentation"),
        [0x2001, 2, 0, ..] => Some("benchmarking"),
        // Teredo, ORCHID and the rest of IETF's protocol block; Teredo's relays could lead anywhere.
        [0x2001, 0..=0x1ff, ..] => Some("reserved"),
        // 6to4.
        [0x2002, high, low, ..] => carried(high, low),
        // ISATAP interface identifiers carry an IPv4 address under any prefix.
        [0x2000..=0x3fff, _, _, _, 0 | 0x200, 0x5efe, high, low] => carried(high, low),
        [0x2000..=0x3fff, ..] => None,
        _ => Some("reserved"),
    }
}

#[cfg(test)]
mod tests {
    use url::{Host, Url};

    use super::*;

    /// Judges the host of a URL, so that every spelling that the URL parser accepts is covered.
    #[track_caller]
    fn check(host: &str, expected: Option<&str>) {
        let url = Url::parse(&format!("https://{host}/")).unwrap();
        let address = match url.host() {
            Some(Host::Ipv4(address)) => IpAddr::V4(address),
            Some(Host::Ipv6(address)) => IpAddr::V6(address),
            other => panic!("{host} is not a literal: {other:?}"),
        };
        assert_eq!(refusal(address, NetworkAccess::Public), expected, "{host} ({address})");
    }

    #[test]
    fn literals_in_all_spellings() {
        for (host, expected) in [
            // Public.
            ("1.1.1.1", None),
            ("8.8.8.8", None),
            ("9.255.255.255", None),
            ("11.0.0.0", None),
            ("100.63.255.255", None),
            ("100.128.0.0", None),
            ("126.255.255.255", None),
            ("128.0.0.1", None),
            ("169.253.255.255", None),
            ("169.255.0.0", None),
            ("172.15.255.255", None),
            ("172.32.0.0", None),
            ("192.0.1.0", None),
            ("192.167.255.255", None),
            ("192.169.0.0", None),
            ("198.17.255.255", None),
            ("198.20.0.0", None),
            ("223.255.255.255", None),
            ("[2606:4700:4700::1111]", None),
            ("[2001:4860:4860::8888]", None),
            ("[2001:200::1]", None),
            ("[3ffe::1]", None),
            // Loopback.
            ("127.0.0.1", Some("loopback")),
            ("127.1", Some("loopback")),
            ("127.0.0.1.", Some("loopback")),
            ("127.255.255.254", Some("loopback")),
            ("2130706433", Some("loopback")),
            ("0x7f000001", Some("loopback")),
            ("0x7f.1", Some("loopback")),
            ("0x7F.0x0.0x0.0x1", Some("loopback")),
            ("017700000001", Some("loopback")),
            ("0177.0.0.01", Some("loopback")),
            ("%31%32%37.0.0.1", Some("loopback")),
            ("１２７.0.0.1", Some("loopback")),
            ("127。0。0。1", Some("loopback")),
            ("[::1]", Some("loopback")),
            ("[0:0:0:0:0:0:0:1]", Some("loopback")),
            // Private.
            ("10.0.0.0", Some("private")),
            ("10.255.255.255", Some("private")),
            ("012.1.2.3", Some("private")),
            ("0xa010203", Some("private")),
            ("172.16.0.0", Some("private")),
            ("172.31.255.255", Some("private")),
            ("192.168.0.0", Some("private")),
            ("192.168.65535", Some("private")),
            ("3232235777", Some("private")),
            ("[fc00::1]", Some("private")),
            ("[fdff::1]", Some("private")),
            ("[fec0::1]", Some("private")),
            // Link-local, shared, metadata.
            ("169.254.0.1", Some("link-local")),
            ("169.254.255.255", Some("link-local")),
            ("[fe80::1]", Some("link-local")),
            ("[febf::1]", Some("link-local")),
            ("100.64.0.1", Some("carrier-grade NAT")),
            ("100.127.255.255", Some("carrier-grade NAT")),
            ("169.254.169.254", Some("cloud metadata")),
            ("2852039166", Some("cloud metadata")),
            ("0xA9FEA9FE", Some("cloud metadata")),
            ("0251.0376.0251.0376", Some("cloud metadata")),
            ("169.254.170.2", Some("cloud metadata")),
            ("169.254.170.23", Some("cloud metadata")),
            ("100.100.100.200", Some("cloud metadata")),
            ("168.63.129.16", Some("cloud metadata")),
            ("192.0.0.192", Some("cloud metadata")),
            ("[fd00:ec2::254]", Some("cloud metadata")),
            ("[fd20:ce::254]", Some("cloud metadata")),
            ("[fd00:c1::a9fe:a9fe]", Some("cloud metadata")),
            // Unspecified, multicast, broadcast, reserved, documentation, benchmarking.
            ("0", Some("unspecified")),
            ("0.0.0.0", Some("unspecified")),
            ("0.1.2.3", Some("unspecified")),
            ("[::]", Some("unspecified")),
            ("224.0.0.1", Some("multicast")),
            ("239.255.255.250", Some("multicast")),
            ("[ff02::1]", Some("multicast")),
            ("255.255.255.255", Some("broadcast")),
            ("0xffffffff", Some("broadcast")),
            ("240.0.0.1", Some("reserved")),
            ("192.0.0.1", Some("reserved")),
            ("192.88.99.1", Some("reserved")),
            ("192.0.2.1", Some("documentation")),
            ("198.51.100.7", Some("documentation")),
            ("203.0.113.7", Some("documentation")),
            ("[2001:db8::1]", Some("documentation")),
            ("[3fff::1]", Some("documentation")),
            ("198.18.0.1", Some("benchmarking")),
            ("198.19.255.255", Some("benchmarking")),
            ("[2001:2::1]", Some("benchmarking")),
            ("[100::1]", Some("reserved")),
            ("[2001::1]", Some("reserved")),
            ("[2001:0:4136:e378:8000:63bf:3fff:fdd2]", Some("reserved")),
            ("[2001:20::1]", Some("reserved")),
            ("[5f00::1]", Some("reserved")),
            ("[4000::1]", Some("reserved")),
            // IPv6 that carries IPv4.
            ("[::ffff:127.0.0.1]", Some("loopback")),
            ("[::ffff:7f00:1]", Some("loopback")),
            ("[::ffff:169.254.169.254]", Some("cloud metadata")),
            ("[::ffff:8.8.8.8]", None),
            ("[::ffff:0:10.0.0.1]", Some("private")),
            ("[::10.0.0.1]", Some("private")),
            ("[::8.8.8.8]", Some("reserved")),
            ("[64:ff9b::192.168.0.1]", Some("private")),
            ("[64:ff9b::a9fe:a9fe]", Some("cloud metadata")),
            ("[64:ff9b::8.8.8.8]", None),
            ("[64:ff9b:1::8.8.8.8]", Some("private")),
            ("[2002:7f00:1::]", Some("loopback")),
            ("[2002:c0a8:1::1]", Some("private")),
            ("[2002:808:808::1]", None),
            ("[2606:4700::5efe:10.0.0.1]", Some("private")),
            ("[2606:4700::200:5efe:127.0.0.1]", Some("loopback")),
        ] {
            check(host, expected);
        }
    }

    #[test]
    fn a_local_pack_reaches_all_but_metadata() {
        for (address, expected) in [
            ("127.0.0.1", None),
            ("10.1.2.3", None),
            ("fe80::1", None),
            ("169.254.1.1", None),
            ("169.254.169.254", Some("cloud metadata")),
            ("::ffff:169.254.169.254", Some("cloud metadata")),
        ] {
            assert_eq!(refusal(address.parse().unwrap(), NetworkAccess::Local), expected, "{address}");
        }
    }
}
