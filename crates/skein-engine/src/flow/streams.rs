//! What models say while they say it: at once to whoever listens here, soon after to everybody else.
//!
//! Pieces are numbered without gaps. Here they go through a channel; a task writes them down in small batches, so that a
//! listener at another server, or one who comes back, finds them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use skein_core::RunId;
use skein_store::Store;
use skein_store::flow::Chunk;
use tokio::sync::broadcast;

use crate::account::Caller;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::flow::SYSTEM;

/// How long pieces are gathered before they are written down.
const GATHER: Duration = Duration::from_millis(100);
/// How many pieces a slow listener may be behind before it reads them from the store.
const BEHIND_MAX: usize = 1_024;

/// A piece, or that what was said before is void.
pub type Piece = Chunk;

/// What is being said, by run.
#[derive(Clone, Default)]
pub(crate) struct Streams(Arc<Mutex<HashMap<RunId, Live>>>);

struct Live {
    next: i64,
    heard: broadcast::Sender<Chunk>,
    unwritten: Vec<Chunk>,
    is_written_soon: bool,
}

impl Live {
    fn new(next: i64) -> Self {
        Self { next, heard: broadcast::channel(BEHIND_MAX).0, unwritten: Vec::new(), is_written_soon: false }
    }
}

impl Streams {
    /// Hears what a model says for a run, if that run's answer is passed on as it comes.
    pub(crate) fn listener(&self, store: &Store, run: RunId, said_before: i64) -> impl Fn(&str) + Send + Sync + use<> {
        let (streams, store) = (self.clone(), store.clone());
        streams.go_on_after(run, said_before);
        // What an earlier attempt or round said is not the answer.
        streams.push(&store, run, Chunk { number: 0, is_reset: true, text: String::new() });
        move |text: &str| streams.push(&store, run, Chunk { number: 0, is_reset: false, text: text.to_owned() })
    }

    /// Numbers go on where an earlier worker stopped.
    fn go_on_after(&self, run: RunId, said_before: i64) {
        let mut live = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let live = live.entry(run).or_insert_with(|| Live::new(1));
        live.next = live.next.max(said_before + 1);
    }

    /// What was said and is not written down yet, for whoever writes down the whole.
    pub(crate) fn unwritten(&self, run: RunId) -> Vec<Chunk> {
        let mut live = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        live.get_mut(&run).map(|live| std::mem::take(&mut live.unwritten)).unwrap_or_default()
    }

    fn push(&self, store: &Store, run: RunId, chunk: Chunk) {
        let mut live = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let live = live.entry(run).or_insert_with(|| Live::new(1));
        if chunk.is_reset && live.next == 1 {
            return;
        }
        let chunk = Chunk { number: live.next, ..chunk };
        live.next += 1;
        live.unwritten.push(chunk.clone());
        // Nobody may be listening.
        let _ = live.heard.send(chunk);
        if !live.is_written_soon {
            live.is_written_soon = true;
            let (streams, store) = (self.clone(), store.clone());
            tokio::spawn(async move {
                tokio::time::sleep(GATHER).await;
                streams.write(&store, run).await;
            });
        }
    }

    async fn write(&self, store: &Store, run: RunId) {
        let chunks = {
            let mut live = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(live) = live.get_mut(&run) else { return };
            live.is_written_soon = false;
            std::mem::take(&mut live.unwritten)
        };
        if let Err(error) = store.write(move |tx| tx.put_chunks(&SYSTEM, run, &chunks)).await {
            tracing::debug!(%error, %run, "pieces of an answer were not written down");
        }
    }

    /// Pieces that are said here from now on.
    fn subscribe(&self, run: RunId) -> broadcast::Receiver<Chunk> {
        let mut live = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        live.entry(run).or_insert_with(|| Live::new(1)).heard.subscribe()
    }

    /// Forgets a run that nobody listens to and that says nothing here.
    fn forget_silent(&self, run: RunId) {
        let mut live = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if live.get(&run).is_some_and(|live| live.heard.receiver_count() <= 1 && live.next == 1) {
            live.remove(&run);
        }
    }

    /// Nothing more is said: whoever listens hears the end.
    pub(crate) fn end(&self, run: RunId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&run);
    }
}

/// What a listener has before it: pieces as they come, then the end.
pub struct Listening {
    engine: Engine,
    run: RunId,
    after: i64,
    ready: std::collections::VecDeque<Chunk>,
    heard: broadcast::Receiver<Chunk>,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.engine.parts().streams.forget_silent(self.run);
    }
}

/// What a listener hears next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// More of what is said.
    Piece(Piece),
    /// The run ended, as its status says.
    End(skein_core::flow::execution::state::RunStatus),
}

impl Engine {
    /// Listens to the answer of a run, from after a piece on.
    pub async fn listen(&self, caller: &Caller, run: RunId, after: i64) -> Result<Listening, EngineError> {
        let viewer = caller.viewer();
        self.parts().store.read(move |tx| tx.execution(&viewer, run).map(drop)).await?;
        // What was said before is read; what is said from now on is heard.
        let heard = self.parts().streams.subscribe(run);
        Ok(Listening { engine: self.clone(), run, after, ready: std::collections::VecDeque::new(), heard })
    }
}

/// How often a listener looks for what is said elsewhere.
const LOOK_EVERY: Duration = Duration::from_millis(250);

impl Listening {
    /// The next piece, or the end; waits for it.
    pub async fn next(&mut self) -> Result<Heard, EngineError> {
        loop {
            while let Some(chunk) = self.ready.pop_front() {
                if chunk.number > self.after {
                    self.after = chunk.number;
                    return Ok(Heard::Piece(chunk));
                }
            }
            if let Ok(chunk) = self.heard.try_recv()
                && chunk.number == self.after + 1
            {
                self.after = chunk.number;
                return Ok(Heard::Piece(chunk));
            }
            let status = self.look().await?;
            if !self.ready.is_empty() {
                continue;
            }
            if status.has_ended() {
                return Ok(Heard::End(status));
            }
            if let Ok(Ok(chunk)) = tokio::time::timeout(LOOK_EVERY, self.heard.recv()).await
                && chunk.number == self.after + 1
            {
                self.after = chunk.number;
                return Ok(Heard::Piece(chunk));
            }
        }
    }

    /// Reads what was written down, and how the run stands.
    async fn look(&mut self) -> Result<skein_core::flow::execution::state::RunStatus, EngineError> {
        let (run, after) = (self.run, self.after);
        let look = move |tx: &mut skein_store::Tx<'_>| {
            let status = tx.execution(&SYSTEM, run)?.status;
            Ok((tx.chunks_after(run, after)?, status))
        };
        let (chunks, status) = self.engine.parts().store.read(look).await?;
        self.ready.extend(chunks);
        Ok(status)
    }
}
