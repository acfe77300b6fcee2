//! Tracks a failing embedder: its backoff, and the texts it has no vectors for.
//!
//! None of it is durable: whoever starts again tries again.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use skein_core::EpisodeId;
use skein_core::garden::cursor::Cursor;

use crate::memory::embedder::EmbedderUnavailable;

/// After a failure nobody is asked for so long, and twice as long after each further one.
const PAUSE: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_mins(5);
/// However long somebody wishes to be left alone.
const WISHED_PAUSE_MAX: Duration = Duration::from_mins(15);
/// A text without a vector is tried again after so long, and twice as long after each further try.
const TEXT_PAUSE: Duration = Duration::from_secs(30);
const TEXT_PAUSE_MAX: Duration = Duration::from_hours(6);
/// Texts that are remembered as having none; beyond that all are tried again.
const TEXTS_MAX: usize = 100_000;
/// A question that got no vector keeps others from waiting for one as long.
const QUESTION_PAUSE: Duration = Duration::from_secs(5);

/// What an embedder has done since this server was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EmbeddingCounts {
    /// Vectors that were made.
    pub made: u64,
    /// Vectors that somebody had made before.
    pub known: u64,
    /// Times in which nothing came.
    pub failures: u64,
    /// Texts for which there was none, each time they were tried.
    pub refused: u64,
}

/// Why no vectors come for now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingFailure {
    /// What went wrong.
    pub said: String,
    /// How often in a row.
    pub failures: u32,
    /// When it is tried again.
    pub retry_in: Duration,
}

/// How far the vectors of another embedder are made; until all are, those there were serve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwitchProgress {
    /// Whose they are.
    pub to: String,
    /// How far along the timeline.
    pub cursor: Cursor,
    /// Episodes it holds.
    pub episodes: u64,
}

#[derive(Default)]
pub(super) struct EmbedderBackoff(Mutex<State>);

#[derive(Default)]
struct State {
    failure: Option<(EmbedderUnavailable, u32)>,
    until: Option<Instant>,
    question_until: Option<Instant>,
    texts: HashMap<EpisodeId, (u32, Instant)>,
    switching: Option<SwitchProgress>,
    counts: EmbeddingCounts,
}

fn doubled(pause: Duration, times: u32, most: Duration) -> Duration {
    pause.saturating_mul(1_u32.checked_shl(times).unwrap_or(u32::MAX)).min(most)
}

impl EmbedderBackoff {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long nobody is to be asked.
    pub(super) fn pause(&self, now: Instant) -> Option<Duration> {
        let left = self.state().until?.saturating_duration_since(now);
        (!left.is_zero()).then_some(left)
    }

    /// Nothing came: for so long nobody is asked.
    pub(super) fn failed(&self, why: EmbedderUnavailable, now: Instant) -> Duration {
        let mut state = self.state();
        let times = state.failure.as_ref().map_or(0, |(_, times)| *times);
        let pause = doubled(PAUSE, times, PAUSE_MAX).max(why.after.unwrap_or_default().min(WISHED_PAUSE_MAX));
        tracing::warn!(error = why.said, again_in = ?pause, "there are no vectors for now; words find what was said");
        state.failure = Some((why, times.saturating_add(1)));
        state.until = Some(now + pause);
        state.counts.failures += 1;
        pause
    }

    /// Vectors came.
    pub(super) fn worked(&self, made: usize) {
        let mut state = self.state();
        (state.failure, state.until, state.question_until) = (None, None, None);
        state.counts.made += made as u64;
    }

    /// Vectors need not be asked for.
    pub(super) fn found(&self, known: usize) {
        self.state().counts.known += known as u64;
    }

    /// There was no vector for this text, while there were for others.
    pub(super) fn refused(&self, id: EpisodeId, now: Instant) {
        let mut state = self.state();
        state.counts.refused += 1;
        if state.texts.len() >= TEXTS_MAX {
            state.texts.clear();
        }
        let times = state.texts.get(&id).map_or(0, |(times, _)| *times);
        let until = now + doubled(TEXT_PAUSE, times, TEXT_PAUSE_MAX);
        state.texts.insert(id, (times.saturating_add(1), until));
    }

    /// Episodes whose texts are not tried again yet.
    pub(super) fn passed_over(&self, now: Instant) -> HashSet<EpisodeId> {
        self.state().texts.iter().filter(|(_, (_, until))| *until > now).map(|(id, _)| *id).collect()
    }

    /// Whether a question need not wait for a vector that will not come.
    pub(super) fn keeps_questions(&self, now: Instant) -> bool {
        let state = self.state();
        [state.until, state.question_until].into_iter().flatten().any(|until| until > now)
    }

    pub(super) fn question_failed(&self, now: Instant) {
        let mut state = self.state();
        state.question_until = Some(now + QUESTION_PAUSE);
        state.counts.failures += 1;
    }

    pub(super) fn switched_so_far(&self, switching: Option<SwitchProgress>) {
        self.state().switching = switching;
    }

    pub(super) fn switching(&self) -> Option<SwitchProgress> {
        self.state().switching.clone()
    }

    pub(super) fn failure(&self, now: Instant) -> Option<EmbeddingFailure> {
        let state = self.state();
        let (why, failures) = state.failure.clone()?;
        let retry_in = state.until.map_or(Duration::ZERO, |until| until.saturating_duration_since(now));
        Some(EmbeddingFailure { said: why.said, failures, retry_in })
    }

    pub(super) fn counts(&self) -> EmbeddingCounts {
        self.state().counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(after: Option<Duration>) -> EmbedderUnavailable {
        EmbedderUnavailable { said: "gone".to_owned(), after, is_lasting: false }
    }

    #[test]
    fn pauses_grow_and_end_with_success() {
        let (troubles, now) = (EmbedderBackoff::default(), Instant::now());
        assert_eq!(troubles.failed(why(None), now), Duration::from_secs(1));
        assert_eq!(troubles.failed(why(None), now), Duration::from_secs(2));
        assert_eq!(troubles.failed(why(Some(Duration::from_mins(1))), now), Duration::from_mins(1));
        for _ in 0..80 {
            assert!(troubles.failed(why(None), now) <= PAUSE_MAX);
        }
        assert!(troubles.keeps_questions(now) && troubles.failure(now).unwrap().failures == 83);
        assert_eq!(troubles.pause(now + PAUSE_MAX), None);
        troubles.found(2);
        assert!(troubles.failure(now).is_some());
        troubles.worked(1);
        assert_eq!((troubles.failure(now), troubles.keeps_questions(now)), (None, false));
        assert_eq!(troubles.counts(), EmbeddingCounts { made: 1, known: 2, failures: 83, refused: 0 });
    }

    #[test]
    fn a_text_without_a_vector_is_tried_again_later_and_later() {
        let (troubles, id, now) = (EmbedderBackoff::default(), EpisodeId::from_bytes([1; 16]), Instant::now());
        troubles.refused(id, now);
        assert!(troubles.passed_over(now).contains(&id) && troubles.pause(now).is_none());
        let later = now + TEXT_PAUSE;
        assert!(troubles.passed_over(later).is_empty());
        troubles.refused(id, later);
        assert!(troubles.passed_over(later + TEXT_PAUSE).contains(&id));
    }

    #[test]
    fn a_question_that_fails_keeps_others_from_waiting_for_a_while() {
        let (troubles, now) = (EmbedderBackoff::default(), Instant::now());
        troubles.question_failed(now);
        assert!(troubles.keeps_questions(now) && !troubles.keeps_questions(now + QUESTION_PAUSE));
    }
}
