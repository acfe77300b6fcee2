//! Places where a test can halt this process, to kill it there.

/// Waits for ever once a test named this place in `DEBUG_SKEIN_HALT_AT`; only in builds for developers.
pub fn halt_at(place: &str) {
    if !cfg!(debug_assertions) || std::env::var_os("DEBUG_SKEIN_HALT_AT").is_none_or(|named| named != place) {
        return;
    }
    eprintln!("halted at {place}");
    loop {
        std::thread::park();
    }
}
