//! Runs a pool of threads, each with one connection, that take work from one queue.
//!
//! Connections are not shared and never move: SQLite readers keep their statement caches warm, and
//! PostgreSQL's client must not be dropped inside an async runtime.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use crate::error::StoreError;

type Task<C> = Box<dyn FnOnce(&mut C) + Send>;

pub(crate) struct Pool<C> {
    queue: Option<SyncSender<Task<C>>>,
    threads: Vec<JoinHandle<()>>,
}

impl<C: Send + 'static> Pool<C> {
    /// One thread per connection; at most `waiting_max` tasks wait.
    pub(crate) fn start(name: &str, connections: Vec<C>, waiting_max: usize) -> Self {
        let (queue, tasks) = sync_channel(waiting_max);
        let tasks = Arc::new(Mutex::new(tasks));
        let threads = connections.into_iter().map(|connection| spawn(name, connection, Arc::clone(&tasks)));
        Self { threads: threads.collect(), queue: Some(queue) }
    }

    pub(crate) fn submit(&self, task: Task<C>) -> Result<(), StoreError> {
        let queue = self.queue.as_ref().expect("the queue lives until the pool is dropped");
        queue.try_send(task).map_err(|error| match error {
            TrySendError::Full(_) => StoreError::Busy,
            TrySendError::Disconnected(_) => StoreError::Unavailable("its threads have stopped".to_owned()),
        })
    }
}

impl<C> Drop for Pool<C> {
    fn drop(&mut self) {
        self.queue = None;
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a database thread panicked");
            }
        }
    }
}

fn spawn<C: Send + 'static>(name: &str, mut connection: C, tasks: Arc<Mutex<Receiver<Task<C>>>>) -> JoinHandle<()> {
    let run = move || {
        loop {
            let task = tasks.lock().expect("no thread panics while it holds this lock").recv();
            let Ok(task) = task else { return };
            task(&mut connection);
        }
    };
    std::thread::Builder::new().name(name.to_owned()).spawn(run).expect("the system can start a thread")
}
