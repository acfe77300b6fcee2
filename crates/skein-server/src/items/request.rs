//! What a client sends about items, made into what the engine takes; anything unknown is refused.

use serde::Deserialize;
use serde_json::Value;
use skein_core::Millis;
use skein_core::document::{self, BadDocument};
use skein_core::garden::item::ItemType;
use skein_engine::garden::{ITEMS_PER_BATCH_MAX, NewItem};
use skein_store::StoreError;
use skein_store::items::{Along, Direction, ItemQuery};

use crate::error::ApiError;
use crate::json_parts::{each_element, each_member};
use crate::pagination::{page_limit, read_cursor};

/// The body of `POST /api/v1/items`.
pub(crate) enum AppendRequest {
    One(NewItem),
    Batch(Vec<NewItem>),
}

impl AppendRequest {
    pub(crate) fn parse(text: &[u8]) -> Result<Self, ApiError> {
        let fields = Fields::cut(text)?;
        match fields {
            Fields { items: Some(items), item_type: None, data: None, canonical_at: None } => {
                Ok(Self::Batch(parse_batch(items)?))
            }
            Fields { items: Some(_), .. } => Err(invalid_field("items", "send either items or one item, not both")),
            Fields { items: None, .. } => Ok(Self::One(fields.into_item()?)),
        }
    }
}

fn parse_batch(text: &[u8]) -> Result<Vec<NewItem>, ApiError> {
    if !text.starts_with(b"[") {
        return Err(invalid_field("items", "expected a list of items"));
    }
    let mut items = Vec::new();
    each_element(text, |element| {
        // One more than allowed is enough for the engine to refuse the batch.
        if items.len() <= ITEMS_PER_BATCH_MAX {
            let index = items.len();
            let item = Fields::cut(element).and_then(Fields::into_item);
            items.push(item.map_err(|error| error.in_batch(index))?);
        }
        Ok(())
    })
    .map(|()| items)
}

/// The texts of the fields that may be sent.
#[derive(Default)]
struct Fields<'a> {
    item_type: Option<&'a [u8]>,
    data: Option<&'a [u8]>,
    canonical_at: Option<&'a [u8]>,
    items: Option<&'a [u8]>,
}

impl<'a> Fields<'a> {
    fn cut(text: &'a [u8]) -> Result<Self, ApiError> {
        let mut fields = Self::default();
        each_member(text, |name, value| {
            let field = match name {
                "_type" => &mut fields.item_type,
                "data" => &mut fields.data,
                "canonicalAt" => &mut fields.canonical_at,
                "items" => &mut fields.items,
                _ => {
                    let known = "unknown field; an item has _type, data and canonicalAt";
                    return Err(invalid_field(&name.chars().take(64).collect::<String>(), known));
                }
            };
            match field.replace(value) {
                None => Ok(()),
                Some(_) => Err(ApiError::from(BadDocument::RepeatedKey(name.to_owned()))),
            }
        })?;
        Ok(fields)
    }

    fn into_item(self) -> Result<NewItem, ApiError> {
        if self.items.is_some() {
            return Err(invalid_field("items", "a batch holds items, not batches"));
        }
        let data = self.data.ok_or_else(|| invalid_field("data", "an item needs its data"))?;
        let data = document::parse_object(data).map_err(|bad| in_field("data", bad))?;
        let item_type = text("_type", self.item_type)?
            .ok_or_else(|| invalid_field("_type", "an item needs its type, such as Note"))?;
        let canonical_at = text("canonicalAt", self.canonical_at)?.map(|at| at.parse::<Millis>());
        let canonical_at = canonical_at.transpose().map_err(|bad| invalid_field("canonicalAt", &bad.to_string()))?;
        Ok(NewItem { item_type, data, canonical_at })
    }
}

/// A field that is text; absent and null are the same.
fn text(field: &str, value: Option<&[u8]>) -> Result<Option<String>, ApiError> {
    match value.map(document::parse).transpose().map_err(|bad| in_field(field, bad))? {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(invalid_field(field, "expected text")),
    }
}

fn in_field(field: &str, bad: BadDocument) -> ApiError {
    ApiError::from(bad).with_detail("field", field)
}

fn invalid_field(field: &str, problem: &str) -> ApiError {
    ApiError::bad_request("invalid_body", format!("{field}: {problem}")).with_detail("field", field)
}

/// The query of `GET /api/v1/items`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListParameters {
    #[serde(rename = "type")]
    item_type: Option<String>,
    clock: Option<ClockName>,
    order: Option<OrderName>,
    from: Option<String>,
    until: Option<String>,
    cursor: Option<String>,
    limit: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum ClockName {
    Realized,
    Canonical,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum OrderName {
    Asc,
    Desc,
}

impl ListParameters {
    pub(crate) fn into_query(self) -> Result<ItemQuery, ApiError> {
        let along = match self.clock {
            None | Some(ClockName::Realized) => Along::Realized,
            Some(ClockName::Canonical) => Along::Canonical,
        };
        let direction = match self.order {
            None | Some(OrderName::Asc) => Direction::Forward,
            Some(OrderName::Desc) => Direction::Backward,
        };
        let after = self.cursor.map(|text| read_cursor(along, direction, &text)).transpose();
        Ok(ItemQuery {
            item_type: self.item_type.as_deref().map(item_type).transpose()?,
            along,
            direction,
            from: moment("from", self.from)?,
            until: moment("until", self.until)?,
            after: after.map_err(StoreError::Cursor)?,
            limit: page_limit(self.limit.as_deref().map(count).transpose()?)?,
            include_hidden: false,
        })
    }
}

fn item_type(text: &str) -> Result<ItemType, ApiError> {
    ItemType::parse(text).map_err(|bad| invalid_parameter("type", &format!("{}; {}", bad.problem(), bad.remedy())))
}

fn count(text: &str) -> Result<usize, ApiError> {
    text.parse().map_err(|_| invalid_parameter("limit", "send a whole number such as 100"))
}

fn moment(name: &str, text: Option<String>) -> Result<Option<Millis>, ApiError> {
    let parsed = text.map(|text| text.parse::<Millis>()).transpose();
    parsed.map_err(|bad| invalid_parameter(name, &bad.to_string()))
}

fn invalid_parameter(name: &str, problem: &str) -> ApiError {
    ApiError::bad_request("invalid_query", format!("{name}: {problem}")).with_detail("field", name)
}
