//! Stores users with their API keys, sessions, and grants.

pub mod grants;
pub mod sessions;
pub mod users;
