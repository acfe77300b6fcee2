//! Runs the server on a listener until it is told to stop, then lets requests finish for a while.

use std::future::Future;
use std::io;

use axum::serve::ListenerExt as _;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::context::Context;
use crate::host_guard::AllowedHosts;
use crate::limits::SHUTDOWN_GRACE;
use crate::router::router;

/// Serves until `stop` resolves and the requests under way are done, or the grace period is over.
///
/// `extra_hosts` are names the server answers to besides its own address.
pub async fn serve(
    listener: TcpListener,
    context: Context,
    extra_hosts: Vec<String>,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let hosts = AllowedHosts::new(listener.local_addr()?, extra_hosts);
    // Answers are small and written whole: waiting to fill a packet would only delay them.
    let listener = listener.tap_io(|stream| {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "could not set TCP_NODELAY");
        }
    });
    let (stopping, stopped) = oneshot::channel();
    let stop = async move {
        stop.await;
        let _ = stopping.send(());
    };
    let server = axum::serve(listener, router(context, hosts)).with_graceful_shutdown(stop);
    tokio::select! {
        outcome = server => outcome,
        () = grace_over(stopped) => {
            tracing::warn!("requests were still under way when the time to finish them was over");
            Ok(())
        }
    }
}

async fn grace_over(stopped: oneshot::Receiver<()>) {
    if stopped.await.is_err() {
        // The server ended by itself and answers for it.
        return std::future::pending().await;
    }
    tracing::info!("stopping; finishing the requests under way");
    tokio::time::sleep(SHUTDOWN_GRACE).await;
}
