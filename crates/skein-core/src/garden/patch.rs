//! The difference between two documents, as names set and names unset.
//!
//! Objects are compared name by name; everything else, arrays included, is replaced whole. That keeps a patch
//! readable and its application total.

use serde_json::{Map, Value, json};

/// What turns one document into another. Paths are lists of names, outermost first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Patch {
    set: Vec<(Vec<String>, Value)>,
    unset: Vec<Vec<String>>,
}

impl Patch {
    pub fn between(old: &Map<String, Value>, new: &Map<String, Value>) -> Self {
        let mut patch = Self::default();
        patch.compare(&mut Vec::new(), old, new);
        patch
    }

    fn compare(&mut self, path: &mut Vec<String>, old: &Map<String, Value>, new: &Map<String, Value>) {
        for name in old.keys().filter(|name| !new.contains_key(*name)) {
            path.push(name.clone());
            self.unset.push(path.clone());
            path.pop();
        }
        for (name, value) in new {
            path.push(name.clone());
            match (old.get(name), value) {
                (Some(before), after) if same(before, after) => {}
                (Some(Value::Object(before)), Value::Object(after)) => self.compare(path, before, after),
                _ => self.set.push((path.clone(), value.clone())),
            }
            path.pop();
        }
    }

    /// The document this patch makes of `old`; `None` when it was made for another one.
    pub fn apply(&self, old: &Map<String, Value>) -> Option<Map<String, Value>> {
        let mut new = old.clone();
        for path in &self.unset {
            let (name, object) = innermost(&mut new, path)?;
            object.remove(name)?;
        }
        for (path, value) in &self.set {
            let (name, object) = innermost(&mut new, path)?;
            object.insert(name.clone(), value.clone());
        }
        Some(new)
    }

    pub fn to_value(&self) -> Value {
        let set: Vec<Value> = self.set.iter().map(|(path, value)| json!([path, value])).collect();
        json!({ "set": set, "unset": self.unset })
    }

    pub fn from_value(value: &Value) -> Option<Self> {
        let set = value.get("set")?.as_array()?.iter().map(|pair| Some((names(pair.get(0)?)?, pair.get(1)?.clone())));
        let unset = value.get("unset")?.as_array()?.iter().map(names);
        Some(Self { set: set.collect::<Option<_>>()?, unset: unset.collect::<Option<_>>()? })
    }
}

/// Equality as the hash sees it: `1` and `1.0` differ, `0.0` and `-0.0` too.
pub(crate) fn same(left: &Value, right: &Value) -> bool {
    use crate::canonical::{Escape, to_string};
    left == right && to_string(left, Escape::Unicode) == to_string(right, Escape::Unicode)
}

fn names(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|name| name.as_str().map(str::to_owned)).collect()
}

fn innermost<'a, 'p>(
    document: &'a mut Map<String, Value>,
    path: &'p [String],
) -> Option<(&'p String, &'a mut Map<String, Value>)> {
    let (name, outer) = path.split_last()?;
    let object = outer.iter().try_fold(document, |object, name| object.get_mut(name)?.as_object_mut())?;
    Some((name, object))
}
