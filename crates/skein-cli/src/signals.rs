//! Signals: the first asks the server to stop, the second ends the process at once.
//!
//! They are awaited on a thread of their own, so that the second one also counts while the store is being closed and
//! no other runtime is left.

use std::future::Future;
use std::io;

use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

use crate::exit::Exit;

/// Starts listening; the result resolves at the first SIGINT or SIGTERM.
pub(crate) fn first_signal() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    let (stop, stopped) = oneshot::channel();
    let runtime = Builder::new_current_thread().enable_io().build()?;
    let signals = {
        let _inside = runtime.enter();
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?)
    };
    let wait = move || {
        runtime.block_on(async move {
            let (mut interrupt, mut terminate) = signals;
            let mut next = async || tokio::select! { _ = interrupt.recv() => (), _ = terminate.recv() => () };
            next().await;
            let _ = stop.send(());
            next().await;
            tracing::warn!("stopped by a second signal");
            std::process::exit(Exit::Interrupted as i32);
        });
    };
    std::thread::Builder::new().name("skein-signals".to_owned()).spawn(wait)?;
    Ok(async {
        let _ = stopped.await;
    })
}
