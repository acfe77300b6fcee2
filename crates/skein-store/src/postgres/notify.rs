//! Wake-up between servers: one coalesced NOTIFY after commits, and a look every second in case one got lost.
//!
//! Inside the writing transaction a NOTIFY would serialise all commits; here it costs nobody anything.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use postgres::Client;
use postgres::fallible_iterator::FallibleIterator as _;

use crate::postgres::connect;
use crate::wake::Wake;

const POLL: Duration = Duration::from_secs(1);
/// How soon the listener notices that the store is closing.
const LISTEN_SLICE: Duration = Duration::from_millis(100);

/// The two threads behind one server's wake-up.
pub(crate) struct Notifier {
    committed: Option<SyncSender<()>>,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Notifier {
    pub(crate) fn start(url: Arc<str>, wake: Wake) -> Self {
        // One waiting signal is enough: whoever looks sees everything.
        let (committed, signals) = sync_channel(1);
        let stop = Arc::new(AtomicBool::new(false));
        let speak = {
            let url = Arc::clone(&url);
            move || speak(&url, &signals)
        };
        let listen = {
            let stop = Arc::clone(&stop);
            move || listen(&url, &wake, &stop)
        };
        let spawn = |name: &str, run: Box<dyn FnOnce() + Send>| {
            std::thread::Builder::new().name(name.to_owned()).spawn(run).expect("the system can start a thread")
        };
        let threads = vec![spawn("skein-notify", Box::new(speak)), spawn("skein-listen", Box::new(listen))];
        Self { committed: Some(committed), stop, threads }
    }

    /// Says that something was committed here; never waits.
    pub(crate) fn committed(&self) {
        if let Some(committed) = &self.committed {
            let _ = committed.try_send(());
        }
    }
}

impl Drop for Notifier {
    fn drop(&mut self) {
        self.committed = None;
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a wake-up thread panicked");
            }
        }
    }
}

fn speak(url: &str, signals: &Receiver<()>) {
    let mut client: Option<Client> = None;
    while signals.recv().is_ok() {
        let connected = client.take().filter(|client| !client.is_closed()).map_or_else(|| connect(url), Ok);
        // Without a connection the listeners' own look every second finds the items.
        client =
            connected.ok().and_then(|mut client| client.batch_execute("NOTIFY skein_timeline").ok().map(|()| client));
    }
}

fn listen(url: &str, wake: &Wake, stop: &AtomicBool) {
    let mut client: Option<Client> = None;
    while !stop.load(Ordering::Relaxed) {
        let connected = client.take().filter(|client| !client.is_closed()).map_or_else(|| start_listening(url), Some);
        let mut waited = Duration::ZERO;
        client = connected;
        while waited < POLL && !stop.load(Ordering::Relaxed) {
            if wait(client.as_mut()) {
                break;
            }
            waited += LISTEN_SLICE;
        }
        wake.wake();
    }
}

fn start_listening(url: &str) -> Option<Client> {
    let mut client = connect(url).ok()?;
    client.batch_execute("LISTEN skein_timeline").ok()?;
    Some(client)
}

/// Waits one slice; true when a notification came.
#[expect(clippy::disallowed_methods, reason = "without a connection there is nothing to wait for but time")]
fn wait(client: Option<&mut Client>) -> bool {
    let Some(client) = client else {
        std::thread::sleep(LISTEN_SLICE);
        return false;
    };
    let mut notifications = client.notifications();
    let notified = matches!(notifications.timeout_iter(LISTEN_SLICE).next(), Ok(Some(_)));
    // Whatever else has queued up is answered by the same look.
    while let Ok(Some(_)) = notifications.iter().next() {}
    notified
}
