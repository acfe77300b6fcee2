//! When the use of a key was last written down, so that reading does not cost a write each time.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use skein_core::KeyId;

const NOTE_EVERY: Duration = Duration::from_mins(1);

#[derive(Default)]
pub(crate) struct KeyUses(Mutex<HashMap<KeyId, Instant>>);

impl KeyUses {
    /// Whether this use should be written down; if so, the next minute's are not.
    pub(crate) fn is_due(&self, key: KeyId) -> bool {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = noted.get(&key).is_none_or(|last| last.elapsed() >= NOTE_EVERY);
        if is_due {
            noted.insert(key, Instant::now());
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_noted_once_in_a_while() {
        let uses = KeyUses::default();
        let (one, other) = (KeyId::from_bytes([1; 16]), KeyId::from_bytes([2; 16]));
        assert!(uses.is_due(one) && uses.is_due(other));
        assert!(!uses.is_due(one));
    }
}
