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

use crate::db::postgres::connect;
use crate::db::wake::Wakes;

const POLL: Duration = Duration::from_secs(1);
/// How soon the listener notices that the store is closing.
const LISTEN_SLICE: Duration = Duration::from_millis(100);

const TIMELINE: &str = "skein_timeline";
const JOBS: &str = "skein_jobs";

/// The two threads behind one server's wake-up.
pub(crate) struct Notifier {
    signal: Option<SyncSender<()>>,
    news: Arc<PendingNotice>,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

/// What others have not been told yet.
#[derive(Default)]
struct PendingNotice {
    timeline: AtomicBool,
    jobs: AtomicBool,
}

impl Notifier {
    pub(crate) fn start(url: Arc<str>, wakes: Wakes) -> Self {
        // One waiting signal is enough: a look shows everything.
        let (signal, signals) = sync_channel(1);
        let (stop, news) = (Arc::new(AtomicBool::new(false)), Arc::new(PendingNotice::default()));
        let speak = {
            let (url, news) = (Arc::clone(&url), Arc::clone(&news));
            move || speak(&url, &signals, &news)
        };
        let listen = {
            let stop = Arc::clone(&stop);
            move || listen(&url, &wakes, &stop)
        };
        let spawn = |name: &str, run: Box<dyn FnOnce() + Send>| {
            std::thread::Builder::new().name(name.to_owned()).spawn(run).expect("the system can start a thread")
        };
        let threads = vec![spawn("skein-notify", Box::new(speak)), spawn("skein-listen", Box::new(listen))];
        Self { signal: Some(signal), news, stop, threads }
    }

    /// Says what was committed here: perhaps items, perhaps jobs that are ready; never waits.
    pub(crate) fn committed(&self, items: bool, jobs: bool) {
        self.news.timeline.fetch_or(items, Ordering::AcqRel);
        self.news.jobs.fetch_or(jobs, Ordering::AcqRel);
        if let Some(signal) = self.signal.as_ref().filter(|_| items || jobs) {
            let _ = signal.try_send(());
        }
    }
}

impl Drop for Notifier {
    fn drop(&mut self) {
        self.signal = None;
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a wake-up thread panicked");
            }
        }
    }
}

impl PendingNotice {
    /// What is to be told now, as a statement.
    fn take(&self) -> String {
        let timeline = self.timeline.swap(false, Ordering::AcqRel).then(|| format!("NOTIFY {TIMELINE}"));
        let jobs = self.jobs.swap(false, Ordering::AcqRel).then(|| format!("NOTIFY {JOBS}"));
        timeline.into_iter().chain(jobs).collect::<Vec<_>>().join("; ")
    }
}

/// Between two words to the others: however much happens, they look no more often.
const PAUSE: Duration = Duration::from_millis(5);

#[expect(
    clippy::disallowed_methods,
    reason = "this thread has nothing else to do, and what comes meanwhile is told after"
)]
fn speak(url: &str, signals: &Receiver<()>, news: &PendingNotice) {
    let mut client: Option<Client> = None;
    while signals.recv().is_ok() {
        let connected = client.take().filter(|client| !client.is_closed()).map_or_else(|| connect(url), Ok);
        let statement = news.take();
        // Without a connection the listeners' own look every second finds the items.
        client = connected.ok().and_then(|mut client| client.batch_execute(&statement).ok().map(|()| client));
        std::thread::sleep(PAUSE);
    }
}

fn listen(url: &str, wakes: &Wakes, stop: &AtomicBool) {
    let mut client: Option<Client> = None;
    while !stop.load(Ordering::Relaxed) {
        let connected = client.take().filter(|client| !client.is_closed()).map_or_else(|| start_listening(url), Some);
        let (mut waited, mut heard) = (Duration::ZERO, ReceivedNotice::default());
        client = connected;
        while waited < POLL && !heard.anything() && !stop.load(Ordering::Relaxed) {
            heard = wait(client.as_mut());
            waited += LISTEN_SLICE;
        }
        // After a second without news everybody looks.
        if heard.timeline || !heard.anything() {
            wakes.timeline.wake();
        }
        if heard.jobs || !heard.anything() {
            wakes.jobs.wake();
        }
    }
}

fn start_listening(url: &str) -> Option<Client> {
    let mut client = connect(url).ok()?;
    client.batch_execute(&format!("LISTEN {TIMELINE}; LISTEN {JOBS}")).ok()?;
    Some(client)
}

#[derive(Clone, Copy, Default)]
struct ReceivedNotice {
    timeline: bool,
    jobs: bool,
}

impl ReceivedNotice {
    fn anything(self) -> bool {
        self.timeline || self.jobs
    }

    fn note(&mut self, channel: &str) {
        self.timeline |= channel == TIMELINE;
        self.jobs |= channel == JOBS;
    }
}

/// Waits one slice for news.
#[expect(clippy::disallowed_methods, reason = "without a connection there is nothing to wait for but time")]
fn wait(client: Option<&mut Client>) -> ReceivedNotice {
    let mut heard = ReceivedNotice::default();
    let Some(client) = client else {
        std::thread::sleep(LISTEN_SLICE);
        return heard;
    };
    let mut notifications = client.notifications();
    if let Ok(Some(first)) = notifications.timeout_iter(LISTEN_SLICE).next() {
        heard.note(first.channel());
    }
    // Whatever else has queued up is answered by the same look.
    while let Ok(Some(next)) = notifications.iter().next() {
        heard.note(next.channel());
    }
    heard
}
