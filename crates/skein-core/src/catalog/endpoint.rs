//! A recorded decision: one host and port on this machine that services may call (decision Z24).

use serde::{Deserialize, Serialize};

use crate::catalog::entry::Entry;
use crate::rule::RuleViolation;

const HOST_BYTES_MAX: usize = 253;

/// A host as an address names it, and a port. Two spellings of one host are two decisions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AllowedEndpoint {
    /// What people find it by: `host:port`.
    pub name: String,
    pub host: String,
    pub port: u16,
}

impl Entry for AllowedEndpoint {
    const RECORD_TYPE: &'static str = "AllowedEndpoint";
}

impl AllowedEndpoint {
    pub fn create(host: &str, port: u16) -> Result<Self, RuleViolation> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || ".-:_".contains(c);
        let is_host = (1..=HOST_BYTES_MAX).contains(&host.len()) && host.chars().all(is_part);
        if !is_host || port == 0 {
            let problem = format!("{:?} is no host and port", format!("{host}:{port}"));
            return Err(RuleViolation::new(
                "BR-SERVICE-006",
                problem,
                "give them as in an address: 127.0.0.1 and 11434",
            ));
        }
        let name = if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
        Ok(Self { name, host: host.to_ascii_lowercase(), port })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_is_about_one_host_and_port() {
        let allowed = AllowedEndpoint::create("LocalHost", 11_434).unwrap();
        assert_eq!((allowed.host.as_str(), allowed.port), ("localhost", 11_434));
        assert_eq!(AllowedEndpoint::create("::1", 80).unwrap().name, "[::1]:80");
        for (host, port) in [("", 80), ("a b", 80), ("http://x", 80), ("x", 0)] {
            assert_eq!(AllowedEndpoint::create(host, port).unwrap_err().rule(), "BR-SERVICE-006");
        }
    }
}
