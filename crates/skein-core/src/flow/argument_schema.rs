//! Reads what an input schema declares about one argument: whether it is an address, and whether its values are listed.
//!
//! A property is seldom described in one place: `anyOf`, `oneOf`, `allOf` and `$ref` hold parts of the description.

use serde_json::Value;

/// Formats of addresses.
const ADDRESS_FORMATS: [&str; 11] = [
    "uri",
    "uri-reference",
    "uri-template",
    "iri",
    "iri-reference",
    "url",
    "hostname",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "ip",
];
/// Keywords whose schemas describe the same value, and whether all of them always hold.
const APPLICATORS: [(&str, bool); 5] =
    [("anyOf", false), ("oneOf", false), ("then", false), ("else", false), ("allOf", true)];
/// Most schemas that are read for one value; a longer description counts as that of an address.
const PARTS_MAX: usize = 256;

/// All parts of a schema that describe one value.
pub(crate) struct DeclaredArgument<'a> {
    root: &'a Value,
    parts: Vec<SchemaPart<'a>>,
    is_cut: bool,
}

#[derive(Clone, Copy)]
struct SchemaPart<'a> {
    schema: &'a Value,
    /// Whether it holds whatever else does.
    always: bool,
}

impl<'a> DeclaredArgument<'a> {
    pub(crate) fn of(schema: &'a Value) -> Self {
        Self::gather(schema, vec![SchemaPart { schema, always: true }])
    }

    fn gather(root: &'a Value, begin: Vec<SchemaPart<'a>>) -> Self {
        let (mut parts, mut open): (Vec<SchemaPart>, _) = (Vec::new(), begin);
        while let Some(part) = open.pop() {
            let is_known = |known: &SchemaPart| std::ptr::eq(known.schema, part.schema) && known.always == part.always;
            if parts.iter().any(is_known) {
                continue;
            }
            if parts.len() == PARTS_MAX {
                return Self { root, parts, is_cut: true };
            }
            parts.push(part);
            for (keyword, holds) in APPLICATORS {
                let always = part.always && holds;
                open.extend(schemas(&part.schema[keyword]).into_iter().map(|schema| SchemaPart { schema, always }));
            }
            open.extend(resolve(root, part.schema).map(|schema| SchemaPart { schema, ..part }));
        }
        Self { root, parts, is_cut: false }
    }

    /// Whether one of the parts declares an address.
    pub(crate) fn is_address(&self) -> bool {
        let format = |part: &SchemaPart<'a>| part.schema["format"].as_str();
        self.is_cut || self.parts.iter().filter_map(format).any(|format| ADDRESS_FORMATS.contains(&format))
    }

    /// Whether the schema lists the values that are allowed.
    pub(crate) fn is_listed(&self) -> bool {
        self.parts.iter().any(|part| part.always && is_listed(self.root, part.schema, &mut PARTS_MAX.clone()))
    }

    /// What is declared about a member.
    pub(crate) fn member(&self, name: &str) -> Self {
        self.below(|schema| {
            let named = schema["properties"].get(name);
            let patterns = schema["patternProperties"].as_object().into_iter().flat_map(|patterns| patterns.values());
            let rest = schema.get("additionalProperties").filter(|_| named.is_none());
            named.into_iter().chain(patterns.chain(rest)).collect()
        })
    }

    /// What is declared about an element.
    pub(crate) fn element(&self, at: usize) -> Self {
        self.below(|schema| {
            let placed = schema["prefixItems"].get(at).or_else(|| schema["items"].get(at));
            let rest = schema.get("items").or_else(|| schema.get("additionalItems"));
            placed.or(rest).into_iter().collect()
        })
    }

    fn below(&self, inner: impl Fn(&'a Value) -> Vec<&'a Value>) -> Self {
        let inner = |part: &SchemaPart<'a>| {
            inner(part.schema).into_iter().map(|schema| SchemaPart { schema, ..*part }).collect()
        };
        Self::gather(self.root, self.parts.iter().flat_map(|part| -> Vec<SchemaPart<'a>> { inner(part) }).collect())
    }
}

/// One schema, or those of a list.
fn schemas(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(schemas) => schemas.iter().collect(),
        Value::Object(_) => vec![value],
        _ => Vec::new(),
    }
}

fn resolve<'a>(root: &'a Value, schema: &Value) -> Option<&'a Value> {
    let pointer = schema["$ref"].as_str()?.strip_prefix('#')?;
    root.pointer(pointer)
}

/// Whether a schema allows nothing but listed values: by itself, by one that always holds, or by every alternative. Older
/// drafts ignore what stands beside `$ref`.
fn is_listed(root: &Value, schema: &Value, left: &mut usize) -> bool {
    let Some(fewer) = left.checked_sub(1) else { return false };
    *left = fewer;
    if schema.get("$ref").is_some() {
        return resolve(root, schema).is_some_and(|named| is_listed(root, named, left));
    }
    if schema.get("enum").is_some() || schema.get("const").is_some() || schema["type"] == "null" {
        return true;
    }
    let is_every = |alternatives: Vec<&Value>, left: &mut usize| {
        !alternatives.is_empty() && alternatives.into_iter().all(|schema| is_listed(root, schema, left))
    };
    schemas(&schema["allOf"]).into_iter().any(|schema| is_listed(root, schema, left))
        || is_every(schemas(&schema["anyOf"]), left)
        || is_every(schemas(&schema["oneOf"]), left)
}
