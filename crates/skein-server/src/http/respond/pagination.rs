//! Pages as clients see them: `{data, pagination: {next, prev, limit}}` (decision Z20).
//!
//! A cursor names the listing it belongs to as well as the place in it: used in another one it would silently skip
//! or repeat, so it is refused there. Where entries are listed by id, the id is the place.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use skein_core::garden::cursor::BadCursor;
use skein_store::StoreError;
use skein_store::timeline::items::{Direction, ItemClock, Page, PagePosition};
use utoipa::{IntoParams, ToSchema};

use crate::http::error::ApiError;
use crate::http::limits::{PAGE_ENTRIES_DEFAULT, PAGE_ENTRIES_MAX};

#[derive(Serialize, ToSchema)]
pub(crate) struct Listing<T> {
    data: Vec<T>,
    pagination: Pagination,
}

#[derive(Serialize, ToSchema)]
struct Pagination {
    /// Where the next page begins; null on the last.
    next: Option<String>,
    /// Where the page before begins, in listings that can be walked back.
    prev: Option<String>,
    /// How many entries a page has at most.
    #[schema(example = 100)]
    limit: usize,
}

impl<T> Listing<T> {
    pub(crate) fn new(data: Vec<T>, next: Option<String>, limit: usize) -> Self {
        Self { data, pagination: Pagination { next, prev: None, limit } }
    }

    /// A page of entries that are listed by id, each shown by `view`.
    pub(crate) fn of<R, P: ToString>(page: Page<R, P>, limit: usize, view: impl Fn(R) -> T) -> Self {
        let next = page.next.map(|place| place.to_string());
        Self::new(page.rows.into_iter().map(view).collect(), next, limit)
    }
}

/// Which page of a listing by id.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct PageParameters {
    /// Where the last page ended: its `pagination.next`.
    cursor: Option<String>,
    /// Entries per page, 1 to 1000.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000, example = 100)]
    limit: Option<String>,
}

impl PageParameters {
    pub(crate) fn read<P: FromStr>(&self) -> Result<(Option<P>, usize), ApiError> {
        read_page(self.cursor.as_deref(), self.limit.as_deref())
    }
}

/// The place and size of a page of a listing by id.
pub(crate) fn read_page<P: FromStr>(cursor: Option<&str>, limit: Option<&str>) -> Result<(Option<P>, usize), ApiError> {
    let after = cursor.map(|text| text.parse().map_err(|_| StoreError::Cursor(BadCursor))).transpose()?;
    Ok((after, page_limit(limit)?))
}

/// How many entries a page gets.
pub(crate) fn page_limit(asked: Option<&str>) -> Result<usize, ApiError> {
    entry_limit(asked, PAGE_ENTRIES_DEFAULT, PAGE_ENTRIES_MAX)
}

/// How many entries an answer gets: `usual` if nothing is asked for, and from 1 to `max`.
pub(crate) fn entry_limit(asked: Option<&str>, usual: usize, max: usize) -> Result<usize, ApiError> {
    let invalid = |message: String| ApiError::bad_request("invalid_query", message).with_detail("field", "limit");
    let asked = asked.map(str::parse).transpose();
    let limit = asked.map_err(|_| invalid(format!("limit: send a whole number such as {usual}")))?.unwrap_or(usual);
    if (1..=max).contains(&limit) { Ok(limit) } else { Err(invalid(format!("limit is between 1 and {max}"))) }
}

/// A place, marked with the listing it is a place of.
pub(crate) fn write_cursor(along: ItemClock, direction: Direction, place: PagePosition) -> String {
    format!("{}{place}", mark(along, direction))
}

/// Reads what [`write_cursor`] wrote for the same listing.
pub(crate) fn read_cursor(along: ItemClock, direction: Direction, text: &str) -> Result<PagePosition, BadCursor> {
    text.strip_prefix(mark(along, direction)).ok_or(BadCursor)?.parse()
}

fn mark(along: ItemClock, direction: Direction) -> &'static str {
    match (along, direction) {
        (ItemClock::Realized, Direction::Forward) => "ra",
        (ItemClock::Realized, Direction::Backward) => "rd",
        (ItemClock::Canonical, Direction::Forward) => "ca",
        (ItemClock::Canonical, Direction::Backward) => "cd",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skein_core::Millis;

    #[test]
    fn a_cursor_counts_only_in_its_own_listing() {
        let place = PagePosition { at: Millis(-5), position: 7 };
        let text = write_cursor(ItemClock::Canonical, Direction::Backward, place);
        assert_eq!(read_cursor(ItemClock::Canonical, Direction::Backward, &text), Ok(place));
        assert!(read_cursor(ItemClock::Canonical, Direction::Forward, &text).is_err());
        assert!(read_cursor(ItemClock::Realized, Direction::Backward, &text).is_err());
    }
}
