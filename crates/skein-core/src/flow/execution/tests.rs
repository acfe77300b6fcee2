//! The machine, move by move.
