//! Everything that can go wrong between us and somebody else's service, said so that a person knows what to do.
//!
//! Texts name hosts, never whole addresses: a query may hold a key.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::io;
use std::time::Duration;

use http::StatusCode;

use super::retry;
use crate::credential::Scrubber;
use crate::guard::Refusal;

/// Why a call brought no usable answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallFault {
    #[error("the address cannot be called: {0}")]
    Address(String),
    #[error("the request cannot be sent: {0}")]
    Request(String),
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error("the name {host} was not found ({cause}); check its spelling and this machine's name service")]
    Name { host: String, cause: String },
    #[error("no connection to {host} ({cause}); check that the service runs and that its port is right")]
    Connect { host: String, cause: String },
    #[error("no trusted connection to {host} ({cause}); check the certificates of both sides")]
    Tls { host: String, cause: String },
    #[error("{host} took longer than {limit:?} {phase}; try again later or raise the limit")]
    Timeout { host: String, phase: Phase, limit: Duration },
    #[error("{host} broke the connection off ({cause}); try again")]
    Reset { host: String, cause: String },
    #[error("{host} does not answer as HTTP asks ({cause}); check that its port speaks HTTP")]
    Protocol { host: String, cause: String },
    #[error("the answer of {host} is larger than {limit} bytes; ask for less or raise the limit")]
    TooLarge { host: String, limit: usize },
    #[error("{host} redirects and is not followed: {cause}; use the address it should lead to")]
    Redirect { host: String, cause: String },
    #[error("the secret does not open {host}: {cause}")]
    Credential { host: String, cause: String },
    #[error("{host} answered with status {status}; {}", status_advice(*status))]
    Status { host: String, status: u16 },
    #[error("the answer of {host} is not understood: {cause}")]
    Content { host: String, cause: String },
}

/// What a time limit was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    Connect,
    FirstByte,
    Idle,
    Total,
}

impl std::fmt::Display for Phase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Connect => "to accept a connection",
            Self::FirstByte => "to begin its answer",
            Self::Idle => "to go on with its answer",
            Self::Total => "in all",
        })
    }
}

impl CallFault {
    /// Whether the same call may succeed later without anybody changing anything.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Name { .. } | Self::Connect { .. } | Self::Timeout { .. } | Self::Reset { .. } => true,
            Self::Status { status, .. } => StatusCode::from_u16(*status).is_ok_and(retry::is_temporary),
            Self::Address(_)
            | Self::Request(_)
            | Self::Refused(_)
            | Self::Tls { .. }
            | Self::Protocol { .. }
            | Self::TooLarge { .. }
            | Self::Redirect { .. }
            | Self::Credential { .. }
            | Self::Content { .. } => false,
        }
    }

    /// Whether the service may have done what it was asked for all the same.
    pub fn is_uncertain(&self) -> bool {
        match self {
            Self::Timeout { phase, .. } => *phase != Phase::Connect,
            // A gateway knows no more than we do.
            Self::Status { status, .. } => matches!(status, 502 | 504),
            Self::Reset { .. } => true,
            _ => false,
        }
    }

    /// A stable word for the kind of fault.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Address(_) => "bad_address",
            Self::Request(_) => "bad_request",
            Self::Refused(_) => "address_refused",
            Self::Name { .. } => "name_not_found",
            Self::Connect { .. } => "no_connection",
            Self::Tls { .. } => "no_trust",
            Self::Timeout { .. } => "timeout",
            Self::Reset { .. } => "connection_broken",
            Self::Protocol { .. } => "not_http",
            Self::TooLarge { .. } => "answer_too_large",
            Self::Redirect { .. } => "bad_redirect",
            Self::Credential { .. } => "credential_refused",
            Self::Status { .. } => "refused_by_service",
            Self::Content { .. } => "answer_not_understood",
        }
    }

    /// Without the secrets: a service may have put what it was sent into a name or header that is told here.
    #[must_use]
    pub(crate) fn scrubbed(mut self, scrubber: &Scrubber) -> Self {
        let clean = |text: &mut String| {
            if let Cow::Owned(scrubbed) = scrubber.text(text) {
                *text = scrubbed;
            }
        };
        match &mut self {
            Self::Address(text) | Self::Request(text) => clean(text),
            Self::Refused(refusal) => {
                if let Cow::Owned(scrubbed) = scrubber.text(&refusal.to_string()) {
                    return Self::Address(scrubbed);
                }
            }
            Self::Timeout { host, .. } | Self::TooLarge { host, .. } | Self::Status { host, .. } => clean(host),
            Self::Name { host, cause }
            | Self::Connect { host, cause }
            | Self::Tls { host, cause }
            | Self::Reset { host, cause }
            | Self::Protocol { host, cause }
            | Self::Redirect { host, cause }
            | Self::Credential { host, cause }
            | Self::Content { host, cause } => {
                clean(host);
                clean(cause);
            }
        }
        self
    }

    /// Sorts what the client library reports.
    pub(super) fn of(error: &reqwest::Error, host: &str, connect_time_max: Duration) -> Self {
        let host = host.to_owned();
        if let Some(refusal) = cause_of::<Refusal>(error) {
            return Self::Refused(refusal.clone());
        }
        if let Some(NotResolved(cause)) = cause_of(error) {
            return Self::Name { host, cause: cause.clone() };
        }
        let cause = innermost(error);
        if cause_of::<rustls::Error>(error).is_some() {
            return Self::Tls { host, cause };
        }
        if error.is_connect() && error.is_timeout() {
            return Self::Timeout { host, phase: Phase::Connect, limit: connect_time_max };
        }
        if error.is_connect() {
            return Self::Connect { host, cause };
        }
        if error.is_builder() {
            return Self::Request(cause);
        }
        if cause_of::<hyper::Error>(error).is_some_and(hyper::Error::is_parse) {
            return Self::Protocol { host, cause };
        }
        Self::Reset { host, cause }
    }
}

fn status_advice(status: u16) -> &'static str {
    match status {
        401 | 403 => "check the secret and what it allows",
        404 => "check the path",
        408 | 429 | 502..=504 => "try again later",
        500..=599 => "the service failed; its owner has to look",
        _ => "check what is sent against what the service wants",
    }
}

/// The name service knows no address of a name.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct NotResolved(pub(super) String);

fn chain<'a>(error: &'a (dyn StdError + 'static)) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |&error| match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        // An I/O error hides what it wraps from `source`.
        Some(wrapped) => Some(wrapped as &(dyn StdError + 'static)),
        None => error.source(),
    })
}

fn cause_of<'a, E: StdError + 'static>(error: &'a (dyn StdError + 'static)) -> Option<&'a E> {
    chain(error).find_map(|error| error.downcast_ref())
}

fn innermost(error: &(dyn StdError + 'static)) -> String {
    chain(error).last().map_or_else(String::new, ToString::to_string)
}
