//! Observed tool use and what is mined from it. For now: how inputs are compared.

use serde_json::Value;

use crate::canonical::{self, Escape};

/// XXH64 (seed 0) of the canonical input, 16 lower-case hexadecimal digits.
///
/// For equality only, never for security: anyone can make two inputs that collide (rule TR-005).
pub fn input_hash(input: &Value) -> String {
    let canonical = canonical::to_string(input, Escape::Unicode);
    format!("{:016x}", xxhash_rust::xxh64::xxh64(canonical.as_bytes(), 0))
}
