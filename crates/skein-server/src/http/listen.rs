//! Runs the server on a listener until it is told to stop, then lets requests finish for a while.
//!
//! Whoever connects is a stranger, so everything they can hold is limited here: connections, the time and the bytes of
//! a head, and the patience with those who do not take their answer. Beyond the greatest number of connections, further
//! ones wait in the system's queue instead of being closed: idle ones end by themselves soon, so waiting is short for
//! an honest client, while a refused connection would look to it like a server that is down.

mod connection;
mod peer;
mod write_timeout;

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use self::connection::ConnectionContext;
pub use self::connection::Stopping;
use crate::http::auth::host_guard::AllowedHosts;
use crate::http::context::Context;
use crate::http::limits::{
    ACCEPT_RETRY, BODY_TIME_MAX, CONNECTIONS_MAX, HEAD_TIME_MAX, SHUTDOWN_GRACE, WRITE_STALL_MAX,
};
pub use crate::http::listen::peer::Peer;
use crate::router::router;

/// How to serve. The default is what `limits` says, and no further names.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// Names the server answers to besides its own address.
    pub extra_hosts: Vec<String>,
    /// Connections at once.
    pub connections_max: usize,
    /// Longest a connection may take for the head of its next request.
    pub head_time_max: Duration,
    /// Longest a client may take for a body.
    pub body_time_max: Duration,
    /// Longest a client may take nothing of its answer.
    pub write_stall_max: Duration,
    /// How long requests may go on after the stop.
    pub grace: Duration,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            extra_hosts: Vec::new(),
            connections_max: CONNECTIONS_MAX,
            head_time_max: HEAD_TIME_MAX,
            body_time_max: BODY_TIME_MAX,
            write_stall_max: WRITE_STALL_MAX,
            grace: SHUTDOWN_GRACE,
        }
    }
}

/// Serves until `stop` resolves and the requests under way are done, or the grace period is over.
pub async fn serve(
    listener: TcpListener,
    context: Context,
    options: ServeOptions,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let hosts = AllowedHosts::new(listener.local_addr()?, options.extra_hosts.clone());
    let (stopping, stopped) = watch::channel(false);
    let visit = ConnectionContext::new(router(context, hosts), options.clone(), Stopping::new(stopped));
    let mut connections = JoinSet::new();
    tokio::select! {
        () = welcome(&listener, &visit, &mut connections) => {}
        () = stop => {}
    }
    drop(listener);
    tracing::info!("stopping; finishing the requests under way");
    stopping.send_replace(true);
    let finished = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(options.grace, finished).await.is_err() {
        tracing::warn!("requests were still under way when the time to finish them was over");
    }
    connections.shutdown().await;
    Ok(())
}

/// Takes connections as long as it is polled.
async fn welcome(listener: &TcpListener, visit: &ConnectionContext, connections: &mut JoinSet<()>) {
    let places = Arc::new(Semaphore::new(visit.options().connections_max));
    loop {
        let place = Arc::clone(&places).acquire_owned().await.expect("nobody closes the semaphore");
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                wait_after(&error).await;
                continue;
            }
        };
        let visit = visit.clone();
        connections.spawn(async move {
            visit.receive(stream, peer).await;
            drop(place);
        });
        while connections.try_join_next().is_some() {}
    }
}

/// A connection that broke before it was taken is nobody's loss; a machine without file handles needs time.
async fn wait_after(error: &io::Error) {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    if matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset) {
        return;
    }
    tracing::error!(%error, "could not take a connection; trying again soon");
    tokio::time::sleep(ACCEPT_RETRY).await;
}
