//! Streams the text of models: at once to listeners in this process, soon after to other processes.
//!
//! Pieces are numbered without gaps. Here they are kept until the run ends; a task writes them down in small batches, so
//! that a listener at another server, or one who comes back later, finds them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use skein_core::ExecutionId;
use skein_core::flow::execution::state::ExecutionStatus;
use skein_store::flow::{ExecutionRow, StreamChunk};
use skein_store::jobs::Job;
use skein_store::{Store, StoreError, Tx};
use tokio::sync::watch;

use crate::account::Caller;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::flow::SYSTEM;

/// How long pieces are gathered before they are written down.
const GATHER: Duration = Duration::from_millis(100);

/// A piece, or that what was said before is void.
pub type StreamPiece = StreamChunk;

/// What is being said, by run.
#[derive(Clone, Default)]
pub(crate) struct Streams(Arc<Mutex<HashMap<ExecutionId, LiveStream>>>);

struct LiveStream {
    /// Whoever speaks here now, by the job they hold.
    speaker: Option<Job>,
    next: i64,
    /// All that was said here.
    said: Vec<StreamChunk>,
    /// The last piece that is written down.
    written: i64,
    heard: watch::Sender<i64>,
    is_written_soon: bool,
    /// How the run ended, where nothing of it was said here.
    ended: Option<ExecutionStatus>,
}

impl Default for LiveStream {
    fn default() -> Self {
        Self {
            speaker: None,
            next: 1,
            said: Vec::new(),
            written: 0,
            heard: watch::channel(0).0,
            is_written_soon: false,
            ended: None,
        }
    }
}

impl LiveStream {
    /// The pieces after one, if what was said here reaches back to it.
    fn after(&self, number: i64) -> Option<&[StreamChunk]> {
        let first = self.said.first()?.number;
        self.said.get(usize::try_from(number + 1 - first).ok()?..)
    }

    fn is_said_by(&self, job: &Job) -> bool {
        self.speaker.as_ref().is_some_and(|speaker| (speaker.id, speaker.fence) == (job.id, job.fence))
    }

    /// Whether whoever listens here need not look how a run ended.
    fn is_told_by(&self, ended: &EndedExecution) -> bool {
        let is_heard_here = ended.is_silent || self.speaker.is_some();
        is_heard_here && self.said.is_empty() && self.heard.receiver_count() > 0
    }

    fn unwritten(&self) -> Vec<StreamChunk> {
        self.said.iter().filter(|chunk| chunk.number > self.written).cloned().collect()
    }
}

impl Streams {
    /// Hears what a model says for a run to whoever holds a job, if that run's answer is passed on as it comes.
    pub(crate) fn listener(
        &self,
        store: &Store,
        run: ExecutionId,
        job: &Job,
        said_before: i64,
    ) -> impl Fn(&str) + Send + Sync + use<> {
        let (streams, store, job) = (self.clone(), store.clone(), job.clone());
        streams.go_on_after(run, &job, said_before);
        // What an earlier attempt or round said is not the answer.
        streams.push(&store, run, &job, StreamChunk { number: 0, is_reset: true, text: String::new() });
        move |text: &str| {
            streams.push(&store, run, &job, StreamChunk { number: 0, is_reset: false, text: text.to_owned() });
        }
    }

    /// Numbers go on where an earlier worker stopped.
    fn go_on_after(&self, run: ExecutionId, job: &Job, said_before: i64) {
        let mut live = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let live = live.entry(run).or_default();
        live.speaker = Some(job.clone());
        if live.next <= said_before {
            // The pieces between were said elsewhere; they are written down.
            *live = LiveStream {
                speaker: live.speaker.take(),
                next: said_before + 1,
                written: said_before,
                heard: live.heard.clone(),
                ..LiveStream::default()
            };
        }
    }

    /// What was said to the holder of a job and is not written down yet, for whoever writes down the whole.
    pub(crate) fn unwritten(&self, run: ExecutionId, job: &Job) -> Vec<StreamChunk> {
        let live = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        live.get(&run).filter(|live| live.is_said_by(job)).map(LiveStream::unwritten).unwrap_or_default()
    }

    /// The pieces after one, as far as they were said here.
    fn after(&self, run: ExecutionId, number: i64) -> Vec<StreamChunk> {
        let live = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        live.get(&run).and_then(|live| live.after(number)).map(<[StreamChunk]>::to_vec).unwrap_or_default()
    }

    fn push(&self, store: &Store, run: ExecutionId, job: &Job, chunk: StreamChunk) {
        let mut live = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever was broken off may say something more; nobody is to hear it.
        let Some(live) = live.get_mut(&run).filter(|live| live.is_said_by(job) && live.ended.is_none()) else { return };
        if chunk.is_reset && live.next == 1 {
            return;
        }
        let chunk = StreamChunk { number: live.next, ..chunk };
        live.next += 1;
        live.heard.send_replace(chunk.number);
        live.said.push(chunk);
        if !live.is_written_soon {
            live.is_written_soon = true;
            let (streams, store) = (self.clone(), store.clone());
            tokio::spawn(async move {
                tokio::time::sleep(GATHER).await;
                streams.write(&store, run).await;
            });
        }
    }

    /// What cannot be written down now is with the next pieces, or with the whole.
    pub(crate) async fn write(&self, store: &Store, run: ExecutionId) {
        let (job, chunks) = {
            let mut live = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(live) = live.get_mut(&run) else { return };
            live.is_written_soon = false;
            let Some(job) = live.speaker.clone() else { return };
            (job, live.unwritten())
        };
        let Some(last) = chunks.last().map(|chunk| chunk.number) else { return };
        // A run that ended says nothing more, for its jobs are gone: what it said may have been destroyed.
        let write = move |tx: &mut Tx<'_>| tx.put_chunks(&SYSTEM, &job, run, &chunks);
        match store.write_locking(1 << 10, None, write).await {
            Ok(_) => {
                let mut live = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(live) = live.get_mut(&run) {
                    live.written = live.written.max(last);
                }
            }
            Err(error) => tracing::debug!(%error, %run, "pieces of an answer were not written down"),
        }
    }

    /// Is told whenever something more is said here.
    fn subscribe(&self, run: ExecutionId) -> watch::Receiver<i64> {
        let mut live = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        live.entry(run).or_default().heard.subscribe()
    }

    /// Forgets a run that nobody listens to and that says nothing here.
    fn forget_silent(&self, run: ExecutionId) {
        let mut live = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_silent = |live: &LiveStream| live.speaker.is_none() || live.ended.is_some();
        if live.get(&run).is_some_and(|live| live.heard.receiver_count() == 0 && is_silent(live)) {
            live.remove(&run);
        }
    }

    /// A run has ended: nothing more is said by anybody. Whoever listens is told, if nothing of it was said here and no word
    /// of it can be elsewhere; words are not kept here any longer, for they may be destroyed.
    pub(crate) fn end_of(&self, ended: &EndedExecution) {
        let (run, mut live) = (ended.run, self.0.lock().unwrap_or_else(PoisonError::into_inner));
        match live.get_mut(&run) {
            Some(live) if live.is_told_by(ended) => {
                live.ended = Some(ended.status);
                live.heard.send_replace(live.next - 1);
            }
            _ => drop(live.remove(&run)),
        }
    }

    /// How a run ended, if that is known here and a piece was its last.
    fn ended_with(&self, run: ExecutionId, number: i64) -> Option<ExecutionStatus> {
        let live = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        live.get(&run).filter(|live| live.next - 1 == number).and_then(|live| live.ended)
    }

    /// Nothing more is said here by the holder of a job: whoever listens goes on with what is written down.
    pub(crate) fn end(&self, run: ExecutionId, job: &Job) {
        let mut live = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if live.get(&run).is_some_and(|live| live.is_said_by(job)) {
            live.remove(&run);
        }
    }
}

/// A run that ended.
pub(crate) struct EndedExecution {
    pub(crate) run: ExecutionId,
    pub(crate) status: ExecutionStatus,
    /// Whether nothing of it is said as it comes.
    pub(crate) is_silent: bool,
}

/// What a listener has before it: pieces as they come, then the end.
pub struct StreamListener {
    engine: Engine,
    caller: Caller,
    run: ExecutionId,
    after: i64,
    ready: std::collections::VecDeque<StreamChunk>,
    heard: watch::Receiver<i64>,
    /// How the run stood when listening began, until that was told.
    status: Option<ExecutionStatus>,
    looked_at: Instant,
}

impl Drop for StreamListener {
    fn drop(&mut self) {
        // Whoever leaves is not counted any more.
        self.heard = watch::channel(0).1;
        self.engine.parts().streams.forget_silent(self.run);
    }
}

/// What a listener hears next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamEvent {
    /// More of what is said.
    Piece(StreamPiece),
    /// The run ended, as its status says.
    End(ExecutionStatus),
}

impl Engine {
    /// Listens to the answer of a run, from after a piece on.
    pub async fn listen(&self, caller: &Caller, run: ExecutionId, after: i64) -> Result<StreamListener, EngineError> {
        let heard = self.parts().streams.subscribe(run);
        let (engine, caller, ready) = (self.clone(), caller.clone(), std::collections::VecDeque::new());
        let looked_at = Instant::now();
        let mut listening = StreamListener { engine, caller, run, after, ready, heard, status: None, looked_at };
        let status = listening.look().await?;
        // There may be more than one look finds.
        listening.status = listening.ready.is_empty().then_some(status);
        Ok(listening)
    }
}

/// How often a listener looks for what is said elsewhere.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// How long pieces are handed over without a look whether whoever listens still may.
const ADMITTED_FOR: Duration = Duration::from_secs(1);

impl StreamListener {
    /// The next piece, or the end; waits for it.
    pub async fn next(&mut self) -> Result<StreamEvent, EngineError> {
        loop {
            while let Some(chunk) = self.ready.pop_front() {
                if chunk.number > self.after {
                    self.be_admitted().await?;
                    self.after = chunk.number;
                    return Ok(StreamEvent::Piece(chunk));
                }
            }
            self.heard.borrow_and_update();
            self.ready.extend(self.engine.parts().streams.after(self.run, self.after));
            if !self.ready.is_empty() {
                continue;
            }
            if let Some(status) = self.engine.parts().streams.ended_with(self.run, self.after) {
                return Ok(StreamEvent::End(status));
            }
            let status = match self.status.take() {
                Some(status) => status,
                None => self.look().await?,
            };
            if !self.ready.is_empty() {
                continue;
            }
            if status.has_ended() {
                return Ok(StreamEvent::End(status));
            }
            // Nothing more is said here; what goes on, goes on elsewhere.
            if let Ok(Err(_)) = tokio::time::timeout(LOOK_EVERY, self.heard.changed()).await {
                self.heard = self.engine.parts().streams.subscribe(self.run);
            }
        }
    }

    /// Reads what was written down, and how the run stands.
    async fn look(&mut self) -> Result<ExecutionStatus, EngineError> {
        let after = self.after;
        let (chunks, status) =
            self.look_as_caller(move |tx, row| Ok((tx.chunks_after(row.id, after)?, row.status))).await?;
        self.ready.extend(chunks);
        Ok(status)
    }

    /// Refuses whoever may hear no more of what is said here.
    async fn be_admitted(&mut self) -> Result<(), EngineError> {
        if self.looked_at.elapsed() < ADMITTED_FOR { Ok(()) } else { self.look_as_caller(|_, _| Ok(())).await }
    }

    /// How the run stands is looked at first: whatever was said before it ended is found after.
    async fn look_as_caller<T: Send + 'static>(
        &mut self,
        look: impl FnOnce(&mut Tx<'_>, ExecutionRow) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, EngineError> {
        let (caller, run) = (self.caller.clone(), self.run);
        let looked = self.engine.parts().store.look_up(move |tx| {
            if !caller.is_admitted(tx)? {
                return Err(StoreError::Forbidden);
            }
            let row = tx.execution(&caller.viewer(), run)?;
            look(tx, row)
        });
        let seen = looked.await?;
        self.looked_at = Instant::now();
        Ok(seen)
    }
}
