//! Recognizes repeated requests by their idempotency key (rules BR-IDEMP-001 to BR-IDEMP-005, decision Z21).
//!
//! A client that lost an answer sends the request again under the same key. What is kept of a request is the hash of
//! user and key, and a fingerprint of what was asked: an HMAC under the key itself. The key is nowhere written down, so
//! a reader of the database cannot even test guesses of what was sent.

use std::str::FromStr;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::digest::{Digest, FieldHasher};
use crate::id::{UserId, parse_bits};
use crate::time::Millis;

/// How long after its end an operation answers for its key. Fixed by BR-IDEMP-003.
pub const KEY_KEPT_MS: i64 = 24 * 60 * 60 * 1_000;
/// Work that gave no sign for this long was cut off, and its key may be used to start it again.
pub const SILENT_MS_MAX: i64 = 90_000;

/// What a client drew for one request: 128 bits, as a UUID or a ULID.
#[derive(Clone, PartialEq, Eq)]
pub struct IdempotencyKey([u8; 16]);

/// A header that is no key. It is not repeated: a key gives access to its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an Idempotency-Key is a UUID or a ULID that the client draws for each request")]
pub struct BadIdempotencyKey;

impl FromStr for IdempotencyKey {
    type Err = BadIdempotencyKey;

    fn from_str(text: &str) -> Result<Self, BadIdempotencyKey> {
        parse_bits(text).map(Self).ok_or(BadIdempotencyKey)
    }
}

impl std::fmt::Debug for IdempotencyKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("IdempotencyKey(…)")
    }
}

/// Under what name a request is kept, and what it asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestMark {
    /// Of user and key: two users may draw the same one (BR-IDEMP-002).
    pub name: Digest,
    /// Of user, method, path and body; headers do not count (BR-IDEMP-004).
    pub fingerprint: Digest,
}

impl IdempotencyKey {
    /// Under what name this user's requests with this key are kept.
    pub fn name(&self, user: UserId) -> Digest {
        FieldHasher::new().field(b"idempotency").field(user.as_bytes()).field(&self.0).finish()
    }

    /// `target` is the path with its query.
    pub fn mark(&self, user: UserId, method: &str, target: &str, body: &[u8]) -> RequestMark {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("any length is a key");
        for part in [user.as_bytes(), method.as_bytes(), target.as_bytes(), body] {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        RequestMark { name: self.name(user), fingerprint: Digest(mac.finalize().into_bytes().into()) }
    }
}

/// What is kept of an earlier request under the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedRequest {
    /// Nothing while a body is still arriving: it cannot be compared yet.
    pub fingerprint: Option<Digest>,
    pub stage: RequestStage,
    /// When it last gave a sign; for one that ended, when it did.
    pub touched_at: Millis,
}

/// How far the earlier request came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestStage {
    /// Its work is done before its transaction, and goes on (uploads, imports).
    Working,
    /// Everything it asked for is on disk, though it may not have been carried out yet.
    Accepted,
    /// It ended; its answer is kept for [`KEY_KEPT_MS`].
    Ended,
}

/// What to do with a request whose name is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepeatDecision {
    /// The earlier one no longer counts.
    Anew,
    /// Answer as the earlier one was answered.
    Replay,
    /// The same key for something else (BR-IDEMP-002, BR-IDEMP-004).
    Mismatch,
    /// The earlier one has not come far enough to say.
    InFlight,
}

/// Decides about a request that asks for `fingerprint` now.
pub fn judge(earlier: &RecordedRequest, fingerprint: Digest, now: Millis) -> RepeatDecision {
    let kept_until = match earlier.stage {
        RequestStage::Working => earlier.touched_at.plus(SILENT_MS_MAX),
        RequestStage::Accepted => Millis::MAX,
        RequestStage::Ended => earlier.touched_at.plus(KEY_KEPT_MS),
    };
    if now >= kept_until {
        return RepeatDecision::Anew;
    }
    match (earlier.stage, earlier.fingerprint) {
        (_, Some(known)) if known != fingerprint => RepeatDecision::Mismatch,
        // It was cancelled before it was known what it asked for.
        (RequestStage::Ended, None) => RepeatDecision::Anew,
        (RequestStage::Working | RequestStage::Accepted, None) | (RequestStage::Working, Some(_)) => {
            RepeatDecision::InFlight
        }
        (RequestStage::Accepted | RequestStage::Ended, Some(_)) => RepeatDecision::Replay,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANNA: UserId = UserId::from_bytes([1; 16]);
    const BERT: UserId = UserId::from_bytes([2; 16]);
    const HOUR: i64 = 3_600_000;

    fn key(text: &str) -> IdempotencyKey {
        text.parse().unwrap()
    }

    fn uuid() -> IdempotencyKey {
        key("a1b2c3d4-e5f6-4890-abcd-ef1234567890")
    }

    fn ended(fingerprint: Digest) -> RecordedRequest {
        RecordedRequest { fingerprint: Some(fingerprint), stage: RequestStage::Ended, touched_at: Millis(0) }
    }

    #[test]
    fn br_idemp_001_a_uuid_or_ulid_is_a_key_holds() {
        assert_eq!(uuid(), key("A1B2C3D4-E5F6-4890-ABCD-EF1234567890"));
        assert!("01HQ3K4N7Y8M2P5R6T9W0X1Z2A".parse::<IdempotencyKey>().is_ok());
    }

    #[test]
    fn br_idemp_001_anything_else_refuses() {
        for text in ["", "1", "my-key", "a1b2c3d4e5f64890abcdef1234567890x", "zzzzzzzz-e5f6-4890-abcd-ef1234567890"] {
            assert_eq!(text.parse::<IdempotencyKey>(), Err(BadIdempotencyKey), "{text:?}");
        }
    }

    #[test]
    fn br_idemp_002_users_do_not_share_keys_holds() {
        assert_ne!(uuid().name(ANNA), uuid().name(BERT));
        assert_eq!(uuid().name(ANNA), uuid().name(ANNA));
    }

    #[test]
    fn br_idemp_002_a_key_used_for_another_path_refuses() {
        let first = uuid().mark(ANNA, "POST", "/api/v1/items", b"{}").fingerprint;
        for (method, path) in [("POST", "/api/v1/keys"), ("PUT", "/api/v1/items")] {
            let other = uuid().mark(ANNA, method, path, b"{}").fingerprint;
            assert_eq!(judge(&ended(first), other, Millis(1)), RepeatDecision::Mismatch);
        }
    }

    #[test]
    fn br_idemp_003_an_answer_is_kept_for_a_day_holds() {
        let asked = uuid().mark(ANNA, "POST", "/x", b"").fingerprint;
        assert_eq!(judge(&ended(asked), asked, Millis(24 * HOUR - 1)), RepeatDecision::Replay);
    }

    #[test]
    fn br_idemp_003_a_day_later_the_answer_is_not_given_refuses() {
        let asked = uuid().mark(ANNA, "POST", "/x", b"").fingerprint;
        assert_eq!(judge(&ended(asked), asked, Millis(24 * HOUR)), RepeatDecision::Anew);
    }

    #[test]
    fn br_idemp_004_parts_cannot_be_shifted_into_each_other_refuses() {
        let first = uuid().mark(ANNA, "POST", "/x", b"ab").fingerprint;
        let other = uuid().mark(ANNA, "POST", "/xa", b"b").fingerprint;
        assert_eq!(judge(&ended(first), other, Millis(1)), RepeatDecision::Mismatch);
    }

    #[test]
    fn br_idemp_005_accepted_work_answers_however_long_it_takes_holds() {
        let asked = uuid().mark(ANNA, "POST", "/x", b"").fingerprint;
        let accepted = RecordedRequest { stage: RequestStage::Accepted, ..ended(asked) };
        assert_eq!(judge(&accepted, asked, Millis(100 * HOUR)), RepeatDecision::Replay);
    }

    #[test]
    fn work_that_goes_on_is_waited_for_until_it_falls_silent() {
        let asked = uuid().mark(ANNA, "POST", "/x", b"").fingerprint;
        let arriving = RecordedRequest { fingerprint: None, stage: RequestStage::Working, touched_at: Millis(0) };
        assert_eq!(judge(&arriving, asked, Millis(SILENT_MS_MAX - 1)), RepeatDecision::InFlight);
        assert_eq!(judge(&arriving, asked, Millis(SILENT_MS_MAX)), RepeatDecision::Anew);
        assert_eq!(
            judge(&RecordedRequest { stage: RequestStage::Ended, ..arriving }, asked, Millis(1)),
            RepeatDecision::Anew
        );
    }
}
