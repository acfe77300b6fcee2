//! What a secret does to a call, by its type.

use std::sync::Arc;

use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::http::CallFault;

/// An opened secret, ready to be used for a call.
#[derive(Debug)]
pub struct Credential {}

impl Credential {
    pub(crate) fn identity(&self) -> Option<Arc<Identity>> {
        None
    }

    pub(crate) fn apply(&self, _request: &mut reqwest::Request) -> Result<(), CallFault> {
        Ok(())
    }
}

/// A client certificate with its key.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Identity {}

impl Identity {
    pub(crate) fn roots(&self) -> Option<RootCertStore> {
        None
    }
    pub(crate) fn chain(&self) -> Vec<CertificateDer<'static>> {
        Vec::new()
    }
    pub(crate) fn key(&self) -> PrivateKeyDer<'static> {
        unreachable!()
    }
}
