//! A client certificate with its key, as the TLS library wants it.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use sha2::{Digest as _, Sha256};

use super::value::Pem;

/// Who we are to a service that asks, and whom we trust in return. Equal when made of the same value.
#[derive(Clone)]
pub(crate) struct Identity {
    certified: Arc<CertifiedKey>,
    roots: Option<Arc<RootCertStore>>,
    fingerprint: [u8; 32],
}

impl Identity {
    /// What is wrong with it is said without what is in it.
    pub(super) fn from_pem(pem: &Pem) -> Result<Self, String> {
        let chain = certificates(&pem.certificate).ok_or("certificate is not a PEM certificate")?;
        let key = PrivateKeyDer::from_pem_slice(pem.private_key.as_bytes());
        let key = key.map_err(|_| "privateKey is not an unencrypted PEM private key")?;
        let certified = CertifiedKey::from_der(chain, key, &rustls::crypto::ring::default_provider());
        let certified = certified.map_err(|_| "privateKey is not of a known kind or not the certificate's key")?;
        let roots = pem.ca.as_deref().map(|ca| roots(ca).ok_or("ca is not a PEM certificate")).transpose()?;
        let mut digest = Sha256::new();
        for part in [Some(&pem.certificate), Some(&pem.private_key), pem.ca.as_ref()] {
            let part = part.map_or("", String::as_str);
            digest.update((part.len() as u64).to_be_bytes());
            digest.update(part);
        }
        let fingerprint = digest.finalize().into();
        Ok(Self { certified: Arc::new(certified), roots: roots.map(Arc::new), fingerprint })
    }

    /// The certificates that vouch for the service in place of the system's.
    pub(crate) fn roots(&self) -> Option<&RootCertStore> {
        self.roots.as_deref()
    }

    pub(crate) fn presented(&self) -> Arc<SingleCertAndKey> {
        Arc::new(SingleCertAndKey::from(Arc::clone(&self.certified)))
    }
}

fn certificates(pem: &str) -> Option<Vec<CertificateDer<'static>>> {
    let all: Vec<_> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect::<Result<_, _>>().ok()?;
    Some(all).filter(|all| !all.is_empty())
}

fn roots(pem: &str) -> Option<RootCertStore> {
    let mut roots = RootCertStore::empty();
    let (_, unreadable) = roots.add_parsable_certificates(certificates(pem)?);
    (unreadable == 0).then_some(roots)
}

impl PartialEq for Identity {
    fn eq(&self, other: &Self) -> bool {
        self.fingerprint == other.fingerprint
    }
}

impl Eq for Identity {}

impl Hash for Identity {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.fingerprint.hash(state);
    }
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Identity(…)")
    }
}
