//! Provides a client whose guard allows the peers of a test and nothing else.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use http::Method;
use skein_connect::guard::{Endpoint, Guard, Policy};
use skein_connect::http::{Http, HttpCall, HttpOptions, Names, Retry};

/// Repeats at once, so that no test waits.
pub(crate) const AT_ONCE: Retry =
    Retry { tries_max: 3, pause: Duration::ZERO, pause_max: Duration::ZERO, wished_pause_max: Duration::from_mins(1) };

pub(crate) fn guard(allowed: &[SocketAddr]) -> Guard {
    let loopback = allowed.iter().map(|address| Endpoint::new(&address.ip().to_string(), address.port())).collect();
    Guard::new(Policy { loopback, ..Policy::default() })
}

pub(crate) fn client(allowed: &[SocketAddr]) -> Http {
    Http::new(guard(allowed), HttpOptions::default())
}

pub(crate) fn get(url: &str) -> HttpCall {
    HttpCall { retry: Retry::NEVER, ..HttpCall::new(Method::GET, url).unwrap() }
}

/// A name service that answers what it was told, in turn; the last answer for ever.
#[derive(Clone, Default)]
pub(crate) struct Told(Arc<Mutex<BTreeMap<String, Vec<Vec<IpAddr>>>>>);

impl Told {
    pub(crate) fn new(host: &str, answers: &[&[&str]]) -> Self {
        let answers = answers.iter().map(|answer| answer.iter().map(|address| address.parse().unwrap()).collect());
        Self(Arc::new(Mutex::new(BTreeMap::from([(host.to_owned(), answers.collect())]))))
    }

    pub(crate) fn client(&self, guard: &Guard) -> Http {
        let names = Arc::new(self.clone());
        Http::new(guard.clone(), HttpOptions { names, ..HttpOptions::default() })
    }
}

impl Names for Told {
    fn addresses(&self, host: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let mut told = self.0.lock().unwrap();
        let answer = match told.get_mut(host) {
            Some(answers) if answers.len() > 1 => Ok(answers.remove(0)),
            Some(answers) => Ok(answers[0].clone()),
            None => Err(io::Error::other("no such name")),
        };
        async move { answer }.boxed()
    }
}
