//! Parses requests about items into the engine's types; unknown fields are refused.

use serde::Deserialize;
use serde_json::{Map, Value};
use skein_core::Millis;
use skein_core::document::{self, BadDocument};
use skein_core::garden::item::ItemType;
use skein_engine::garden::{ITEMS_PER_BATCH_MAX, NewItem};
use skein_store::StoreError;
use skein_store::timeline::items::{Direction, ItemClock, ItemQuery};
use utoipa::{IntoParams, ToSchema};

use crate::http::error::ApiError;
use crate::http::extract::json_parts::{each_element, each_member};
use crate::http::respond::pagination::{page_limit, read_cursor};

/// A fact, or many that are kept whole or not at all.
#[derive(Deserialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "describes the body, which `AppendRequest` cuts by hand")]
#[schema(example = json!({ "_type": "Note", "data": { "description": "The heron came back today." } }))]
pub(crate) enum AppendBody {
    One(NewItemBody),
    Batch(BatchBody),
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(dead_code, reason = "describes the body, which `AppendRequest` cuts by hand")]
pub(crate) struct NewItemBody {
    /// CamelCase, such as `Note`.
    #[serde(rename = "_type")]
    #[schema(example = "Note", pattern = "^[A-Z][A-Za-z0-9]*$")]
    item_type: String,
    /// What is stated, up to 1 MiB.
    #[schema(value_type = Object)]
    data: Map<String, Value>,
    /// When it happened, if not now.
    #[schema(example = "2026-11-14T18:00:00.000Z", format = DateTime)]
    canonical_at: Option<String>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "describes the body, which `AppendRequest` cuts by hand")]
pub(crate) struct BatchBody {
    #[schema(min_items = 1, max_items = 1000)]
    items: Vec<NewItemBody>,
}

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
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListParameters {
    /// Only items of this type.
    #[serde(rename = "type")]
    #[param(rename = "type", example = "Note")]
    item_type: Option<String>,
    /// Also what only keeps the books when no type is asked for: changes of records and relations, seals, events of the
    /// system.
    #[serde(rename = "includeSystem")]
    #[param(rename = "includeSystem", value_type = Option<bool>)]
    include_system: Option<String>,
    /// Along when they were recorded, or along when they happened.
    #[param(inline)]
    clock: Option<ClockName>,
    #[param(inline)]
    order: Option<OrderName>,
    /// From this moment on, inclusive.
    #[param(example = "2026-11-01T00:00:00.000Z", format = DateTime)]
    from: Option<String>,
    /// Up to this moment, exclusive.
    #[param(example = "2026-12-01T00:00:00.000Z", format = DateTime)]
    until: Option<String>,
    /// Where the last page ended: its `pagination.next`.
    cursor: Option<String>,
    /// Entries per page, 1 to 1000.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000, example = 100)]
    limit: Option<String>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum ClockName {
    Realized,
    Canonical,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum OrderName {
    Asc,
    Desc,
}

impl ListParameters {
    pub(crate) fn into_query(self) -> Result<ItemQuery, ApiError> {
        let along = match self.clock {
            None | Some(ClockName::Realized) => ItemClock::Realized,
            Some(ClockName::Canonical) => ItemClock::Canonical,
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
            limit: page_limit(self.limit.as_deref())?,
            include_hidden: false,
            without_bookkeeping: !flag("includeSystem", self.include_system.as_deref())?,
        })
    }
}

fn item_type(text: &str) -> Result<ItemType, ApiError> {
    ItemType::parse(text).map_err(|bad| invalid_parameter("type", &format!("{}; {}", bad.problem(), bad.remedy())))
}

fn flag(name: &str, text: Option<&str>) -> Result<bool, ApiError> {
    match text {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(_) => Err(invalid_parameter(name, "say true or false")),
    }
}

fn moment(name: &str, text: Option<String>) -> Result<Option<Millis>, ApiError> {
    let parsed = text.map(|text| text.parse::<Millis>()).transpose();
    parsed.map_err(|bad| invalid_parameter(name, &bad.to_string()))
}

fn invalid_parameter(name: &str, problem: &str) -> ApiError {
    ApiError::bad_request("invalid_query", format!("{name}: {problem}")).with_detail("field", name)
}
