//! Pages as clients see them: `{data, pagination: {next, prev, limit}}` (decision Z20).
//!
//! A cursor names the listing it belongs to as well as the place in it: used in another one it would silently skip
//! or repeat, so it is refused there.

use serde::Serialize;
use skein_core::garden::cursor::BadCursor;
use skein_store::items::{Along, Direction, PagePlace};

use crate::error::ApiError;
use crate::limits::{PAGE_ENTRIES_DEFAULT, PAGE_ENTRIES_MAX};

#[derive(Serialize)]
pub(crate) struct Listing<T> {
    data: Vec<T>,
    pagination: Pagination,
}

#[derive(Serialize)]
struct Pagination {
    next: Option<String>,
    prev: Option<String>,
    limit: usize,
}

impl<T> Listing<T> {
    pub(crate) fn new(data: Vec<T>, next: Option<String>, limit: usize) -> Self {
        Self { data, pagination: Pagination { next, prev: None, limit } }
    }
}

/// How many entries a page gets.
pub(crate) fn page_limit(asked: Option<usize>) -> Result<usize, ApiError> {
    let limit = asked.unwrap_or(PAGE_ENTRIES_DEFAULT);
    if (1..=PAGE_ENTRIES_MAX).contains(&limit) {
        return Ok(limit);
    }
    let message = format!("limit is between 1 and {PAGE_ENTRIES_MAX}");
    Err(ApiError::bad_request("invalid_query", message))
}

/// A place, marked with the listing it is a place of.
pub(crate) fn write_cursor(along: Along, direction: Direction, place: PagePlace) -> String {
    format!("{}{place}", mark(along, direction))
}

/// Reads what [`write_cursor`] wrote for the same listing.
pub(crate) fn read_cursor(along: Along, direction: Direction, text: &str) -> Result<PagePlace, BadCursor> {
    text.strip_prefix(mark(along, direction)).ok_or(BadCursor)?.parse()
}

fn mark(along: Along, direction: Direction) -> &'static str {
    match (along, direction) {
        (Along::Realized, Direction::Forward) => "ra",
        (Along::Realized, Direction::Backward) => "rd",
        (Along::Canonical, Direction::Forward) => "ca",
        (Along::Canonical, Direction::Backward) => "cd",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skein_core::Millis;

    #[test]
    fn a_cursor_counts_only_in_its_own_listing() {
        let place = PagePlace { at: Millis(-5), position: 7 };
        let text = write_cursor(Along::Canonical, Direction::Backward, place);
        assert_eq!(read_cursor(Along::Canonical, Direction::Backward, &text), Ok(place));
        assert!(read_cursor(Along::Canonical, Direction::Forward, &text).is_err());
        assert!(read_cursor(Along::Realized, Direction::Backward, &text).is_err());
    }
}
