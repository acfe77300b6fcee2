//! Typed edges: which kinds there are, how many of each may exist, and which may change (decisions M1, M12, M19).
//!
//! Uniqueness itself is kept by the database; this is where its terms are set. Making, editing or removing an
//! edge is a fact, whose draft is made here.

use std::fmt;

use serde_json::{Map, Value, json};

use crate::document;
use crate::garden::item::{BadItem, ItemDraft, ItemType};
use crate::id::{ItemId, RecordId, RelationId};
use crate::rule::RuleViolation;

macro_rules! spelled {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $text:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($variant),* }

        impl $name {
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

spelled! {
    /// What an edge means. The spelling `supercedes` is that of the founding design (decision M11).
    RelationKind {
        Triggers = "triggers",
        Supercedes = "supercedes",
        RepliesTo = "replies_to",
        Continues = "continues",
        ResultOf = "result_of",
        Mentions = "mentions",
        DerivedFrom = "derived_from",
        Contains = "contains",
        GroupsWith = "groups_with",
        LinkedWith = "linked_with",
    }
}

spelled! {
    /// What stands at an end of an edge.
    EndpointKind {
        Item = "item",
        Entity = "entity",
        Artifact = "artifact",
        Fragment = "fragment",
        Log = "log",
    }
}

/// How many edges of one kind may meet at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cardinality {
    /// A target is reached at most once.
    OnePerTarget,
    /// A source leads to at most one target.
    OnePerSource,
    Many,
}

impl RelationKind {
    /// Reads a kind, in either spelling of superseding.
    pub fn parse(text: &str) -> Result<Self, RuleViolation> {
        if text == "supersedes" {
            return Ok(Self::Supercedes);
        }
        Self::ALL.iter().copied().find(|kind| kind.as_str() == text).ok_or_else(|| {
            let shown: String = text.chars().take(64).collect();
            RuleViolation::new(
                "MG-REL-010",
                format!("{shown:?} is not a kind of relation"),
                "use triggers, supercedes, replies_to, continues, result_of, mentions, derived_from, contains, groups_with or linked_with",
            )
        })
    }

    pub fn cardinality(self) -> Cardinality {
        match self {
            Self::Triggers | Self::Supercedes | Self::ResultOf => Cardinality::OnePerTarget,
            Self::RepliesTo | Self::Continues => Cardinality::OnePerSource,
            Self::Mentions | Self::DerivedFrom | Self::Contains | Self::GroupsWith | Self::LinkedWith => {
                Cardinality::Many
            }
        }
    }

    /// The rule that states this kind's cardinality.
    pub fn cardinality_rule(self) -> &'static str {
        match self.cardinality() {
            Cardinality::OnePerTarget => "MG-REL-001",
            Cardinality::OnePerSource => "MG-REL-002",
            Cardinality::Many => "MG-REL-003",
        }
    }

    /// Whether edges of this kind stay as they were made.
    pub fn is_frozen(self) -> bool {
        !matches!(self, Self::Mentions | Self::DerivedFrom | Self::GroupsWith | Self::LinkedWith)
    }

    /// Refuses a kind that only an act of its own makes (rule MG-CONV-006).
    pub fn check_stated(self) -> Result<(), RuleViolation> {
        if self != Self::Continues {
            return Ok(());
        }
        let problem = "continues says that a folded conversation was reopened";
        Err(RuleViolation::new("MG-CONV-006", problem, "reopen the folded conversation"))
    }

    /// Which end must have been recorded first. Keeps chains free of cycles.
    pub fn earlier_end(self) -> Option<RelationEnd> {
        match self {
            Self::Triggers => Some(RelationEnd::Source),
            Self::Supercedes | Self::RepliesTo | Self::Continues | Self::ResultOf => Some(RelationEnd::Target),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelationEnd {
    Source,
    Target,
}

impl EndpointKind {
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.as_str() == text)
    }
}

/// One end of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Endpoint {
    Item(ItemId),
    Entity(RecordId),
    Artifact(RecordId),
    /// The `position`-th semantic unit of an item's text.
    Fragment {
        item: ItemId,
        position: u32,
    },
    /// A conversation.
    Log(RecordId),
}

impl Endpoint {
    pub fn kind(&self) -> EndpointKind {
        match self {
            Self::Item(_) => EndpointKind::Item,
            Self::Entity(_) => EndpointKind::Entity,
            Self::Artifact(_) => EndpointKind::Artifact,
            Self::Fragment { .. } => EndpointKind::Fragment,
            Self::Log(_) => EndpointKind::Log,
        }
    }

    pub fn id_bytes(&self) -> &[u8; 16] {
        match self {
            Self::Item(id) | Self::Fragment { item: id, .. } => id.as_bytes(),
            Self::Entity(id) | Self::Artifact(id) | Self::Log(id) => id.as_bytes(),
        }
    }

    pub fn position(&self) -> Option<u32> {
        match self {
            Self::Fragment { position, .. } => Some(*position),
            _ => None,
        }
    }

    /// Puts an endpoint together from its stored columns.
    pub fn from_parts(kind: EndpointKind, id: [u8; 16], position: Option<u32>) -> Option<Self> {
        match (kind, position) {
            (EndpointKind::Item, None) => Some(Self::Item(ItemId::from_bytes(id))),
            (EndpointKind::Fragment, Some(position)) => Some(Self::Fragment { item: ItemId::from_bytes(id), position }),
            (EndpointKind::Entity, None) => Some(Self::Entity(RecordId::from_bytes(id))),
            (EndpointKind::Artifact, None) => Some(Self::Artifact(RecordId::from_bytes(id))),
            (EndpointKind::Log, None) => Some(Self::Log(RecordId::from_bytes(id))),
            _ => None,
        }
    }

    /// `item_…`, `entity_…`, or `item_…#3` for the third fragment.
    pub fn id_text(&self) -> String {
        match self {
            Self::Item(id) => id.to_string(),
            Self::Fragment { item, position } => format!("{item}#{position}"),
            Self::Entity(id) | Self::Artifact(id) | Self::Log(id) => id.to_string(),
        }
    }

    /// Reads an id whose prefix says what it is; an `entity_…` without a type is an entity.
    pub fn of_id(id: &str) -> Result<Self, RuleViolation> {
        let kind = match (id.starts_with(RecordId::PREFIX), id.contains('#')) {
            (true, _) => EndpointKind::Entity,
            (false, true) => EndpointKind::Fragment,
            (false, false) => EndpointKind::Item,
        };
        Self::parse(kind.as_str(), id)
    }

    /// Reads the pair of type and id that the wire carries.
    pub fn parse(kind: &str, id: &str) -> Result<Self, RuleViolation> {
        let refuse = || {
            let shown: String = format!("{kind} {id}").chars().take(96).collect();
            RuleViolation::new(
                "MG-REL-005",
                format!("{shown:?} is not an end of a relation"),
                "name its type and its id",
            )
        };
        let record = || id.parse::<RecordId>().map_err(|_| refuse());
        match EndpointKind::parse(kind).ok_or_else(refuse)? {
            EndpointKind::Item => id.parse().map(Self::Item).map_err(|_| refuse()),
            EndpointKind::Entity => record().map(Self::Entity),
            EndpointKind::Artifact => record().map(Self::Artifact),
            EndpointKind::Log => record().map(Self::Log),
            EndpointKind::Fragment => {
                let (item, position) = id.split_once('#').ok_or_else(refuse)?;
                let item = item.parse().map_err(|_| refuse())?;
                let position = position.parse().map_err(|_| refuse())?;
                Ok(Self::Fragment { item, position })
            }
        }
    }
}

/// Largest metadata of an edge, in bytes of its text.
pub const METADATA_BYTES_MAX: usize = 64 << 10;

/// What may be edited on an edge that is not frozen.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RelationAttributes {
    /// How sure an inference is, from 0 to 1; `None` when the edge was stated.
    pub confidence: Option<f64>,
    pub metadata: Map<String, Value>,
}

impl RelationAttributes {
    /// The mark of an edge that was read out of content (decision M13).
    pub fn inferred(confidence: f64) -> Self {
        let metadata = Map::from_iter([("inferred".to_owned(), json!(true))]);
        Self { confidence: Some(confidence), metadata }
    }
}

/// An edge about to be made.
#[derive(Debug, Clone, PartialEq)]
pub struct RelationDraft {
    kind: RelationKind,
    source: Endpoint,
    target: Endpoint,
    qualities: RelationAttributes,
}

/// An edge as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Relation {
    pub id: RelationId,
    pub kind: RelationKind,
    pub source: Endpoint,
    pub target: Endpoint,
    pub qualities: RelationAttributes,
    pub realized_at: crate::Millis,
}

impl RelationDraft {
    pub fn new(
        kind: RelationKind,
        source: Endpoint,
        target: Endpoint,
        qualities: RelationAttributes,
    ) -> Result<Self, BadItem> {
        Self { kind, source, target, qualities }.checked()
    }

    /// Judges an edge that [`Self::from_document`] read: what was read may be anything.
    pub fn checked(self) -> Result<Self, BadItem> {
        check_ends(self.kind, self.source, self.target)?;
        check_qualities(self.kind, &self.qualities)?;
        Ok(self)
    }

    pub fn kind(&self) -> RelationKind {
        self.kind
    }

    pub fn source(&self) -> Endpoint {
        self.source
    }

    pub fn target(&self) -> Endpoint {
        self.target
    }

    /// The fact that the edge with this id was made.
    pub fn to_item(&self, id: RelationId) -> ItemDraft {
        ItemDraft::recorded(ItemType::RELATION_CREATED, &self.to_document(id))
    }

    fn to_document(&self, id: RelationId) -> Map<String, Value> {
        let mut data = qualities_fields(id, &self.qualities);
        let mut put = |name: &str, value: &str| data.insert(name.to_owned(), json!(value));
        put("kind", self.kind.as_str());
        put("source", &self.source.id_text());
        put("sourceType", self.source.kind().as_str());
        put("target", &self.target.id_text());
        put("targetType", self.target.kind().as_str());
        data
    }

    /// Reads the payload that [`Self::to_item`] wrote, without judging it; `None` for anything else.
    pub fn from_document(data: &Map<String, Value>) -> Option<(RelationId, Self)> {
        let text = |name: &str| data.get(name).and_then(Value::as_str);
        let source = Endpoint::parse(text("sourceType")?, text("source")?).ok()?;
        let target = Endpoint::parse(text("targetType")?, text("target")?).ok()?;
        let kind = RelationKind::parse(text("kind")?).ok()?;
        let (id, qualities) = qualities_from_document(data)?;
        Some((id, Self { kind, source, target, qualities }))
    }

    pub fn into_relation(self, id: RelationId, realized_at: crate::Millis) -> Relation {
        let Self { kind, source, target, qualities } = self;
        Relation { id, kind, source, target, qualities, realized_at }
    }
}

impl Relation {
    /// Everything but when it was made, as [`RelationDraft::from_document`] reads it.
    pub fn to_document(&self) -> Map<String, Value> {
        let Self { id, kind, source, target, qualities, realized_at: _ } = self.clone();
        RelationDraft { kind, source, target, qualities }.to_document(id)
    }

    /// The fact that confidence or metadata of an edge changed.
    pub fn edit(&self, qualities: &RelationAttributes) -> Result<ItemDraft, BadItem> {
        refuse_frozen(self.kind, "changed")?;
        check_qualities(self.kind, qualities)?;
        Ok(ItemDraft::recorded(ItemType::RELATION_EDITED, &qualities_fields(self.id, qualities)))
    }

    /// The fact that an edge was removed, and what it was: enough to create it again.
    pub fn remove(&self, reason: &str) -> Result<ItemDraft, BadItem> {
        refuse_frozen(self.kind, "removed")?;
        document::check_text("a reason", reason, METADATA_BYTES_MAX)?;
        Ok(self.removal(reason))
    }

    /// The fact that an edge went with the item it led from, which was undone (rule MG-SOIL-005).
    pub fn withdraw(&self) -> ItemDraft {
        self.removal("undo")
    }

    fn removal(&self, reason: &str) -> ItemDraft {
        let mut data = self.to_document();
        data.insert("reason".to_owned(), json!(reason));
        ItemDraft::recorded(ItemType::RELATION_REMOVED, &data)
    }
}

/// Reads the relation id, confidence and metadata that every relation item but a removal carries.
pub fn qualities_from_document(data: &Map<String, Value>) -> Option<(RelationId, RelationAttributes)> {
    let id = data.get("relationId")?.as_str()?.parse().ok()?;
    let confidence = data.get("confidence").and_then(Value::as_f64);
    let metadata = data.get("metadata")?.as_object()?.clone();
    Some((id, RelationAttributes { confidence, metadata }))
}

fn qualities_fields(id: RelationId, qualities: &RelationAttributes) -> Map<String, Value> {
    Map::from_iter([
        ("relationId".to_owned(), json!(id.to_string())),
        ("confidence".to_owned(), json!(qualities.confidence)),
        ("metadata".to_owned(), Value::Object(qualities.metadata.clone())),
    ])
}

fn check_ends(kind: RelationKind, source: Endpoint, target: Endpoint) -> Result<(), RuleViolation> {
    let refuse = |problem: String, remedy| Err(RuleViolation::new("MG-REL-005", problem, remedy));
    if source == target {
        return refuse(format!("{kind} cannot lead from a thing to itself"), "name two different ends");
    }
    if source.kind() == EndpointKind::Fragment {
        return refuse(
            "a fragment can be reached but leads nowhere".to_owned(),
            "use the item it belongs to as source",
        );
    }
    let joins_logs = source.kind() == EndpointKind::Log && target.kind() == EndpointKind::Log;
    if (kind == RelationKind::Continues) != joins_logs
        && (kind == RelationKind::Continues || kind.cardinality() != Cardinality::Many)
    {
        return refuse(
            format!("{kind} does not join a {} to a {}", source.kind(), target.kind()),
            "continues joins two conversations, and nothing else does",
        );
    }
    if target.kind() == EndpointKind::Fragment && kind.cardinality() != Cardinality::Many {
        return refuse(format!("{kind} cannot point at a fragment"), "point at the item it belongs to");
    }
    Ok(())
}

fn check_qualities(kind: RelationKind, qualities: &RelationAttributes) -> Result<(), BadItem> {
    let refuse = |problem: &str, remedy| Err(RuleViolation::new("MG-REL-007", problem, remedy).into());
    if let Some(confidence) = qualities.confidence {
        if kind.cardinality() != Cardinality::Many {
            return refuse("confidence belongs to inferred relations only", "leave it out");
        }
        if !(0.0..=1.0).contains(&confidence) {
            return refuse("confidence lies between 0 and 1", "send a number such as 0.8");
        }
        if qualities.metadata.get("inferred") != Some(&json!(true)) {
            let problem = "an edge with a confidence was inferred and has to say so";
            return Err(RuleViolation::new("MG-REL-009", problem, "mark it with inferred: true").into());
        }
    }
    let metadata = Value::Object(qualities.metadata.clone());
    document::check(&metadata)?;
    document::check_text("metadata", &metadata.to_string(), METADATA_BYTES_MAX)?;
    Ok(())
}

fn refuse_frozen(kind: RelationKind, what: &str) -> Result<(), RuleViolation> {
    if !kind.is_frozen() {
        return Ok(());
    }
    let problem = format!("{kind} says what happened and cannot be {what}");
    Err(RuleViolation::new("MG-REL-004", problem, "add a new relation instead"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ITEM: Endpoint = Endpoint::Item(ItemId::from_bytes([1; 16]));
    const OTHER: Endpoint = Endpoint::Item(ItemId::from_bytes([2; 16]));
    const FRAGMENT: Endpoint = Endpoint::Fragment { item: ItemId::from_bytes([1; 16]), position: 3 };
    const LOG: Endpoint = Endpoint::Log(RecordId::from_bytes([3; 16]));
    const NEW_LOG: Endpoint = Endpoint::Log(RecordId::from_bytes([4; 16]));

    fn draft(kind: RelationKind, source: Endpoint, target: Endpoint) -> Result<RelationDraft, BadItem> {
        RelationDraft::new(kind, source, target, RelationAttributes::default())
    }

    fn kept(kind: RelationKind) -> Relation {
        draft(kind, ITEM, OTHER).unwrap().into_relation(RelationId::from_bytes([9; 16]), crate::Millis(0))
    }

    #[test]
    fn mg_rel_004_interpretive_edges_may_change_holds() {
        assert!(kept(RelationKind::Mentions).edit(&RelationAttributes::inferred(0.5)).is_ok());
        assert!(kept(RelationKind::GroupsWith).remove("moved").is_ok());
    }

    #[test]
    fn mg_rel_004_structural_edges_refuses_change() {
        for kind in [RelationKind::Triggers, RelationKind::Supercedes, RelationKind::RepliesTo, RelationKind::Contains]
        {
            assert!(kept(kind).edit(&RelationAttributes::default()).is_err(), "{kind}");
            assert!(kept(kind).remove("no").is_err(), "{kind}");
        }
    }

    #[test]
    fn mg_conv_006_stating_that_something_continues_refuses() {
        for kind in RelationKind::ALL {
            let refused = kind.check_stated().err().map(|violation| violation.rule());
            assert_eq!(refused, (*kind == RelationKind::Continues).then_some("MG-CONV-006"), "{kind}");
        }
    }

    #[test]
    fn mg_rel_005_ends_of_every_type_holds() {
        assert!(draft(RelationKind::Continues, NEW_LOG, LOG).is_ok());
        assert!(draft(RelationKind::Mentions, ITEM, FRAGMENT).is_ok());
        assert!(draft(RelationKind::Triggers, ITEM, OTHER).is_ok());
        assert_eq!(Endpoint::parse("fragment", &FRAGMENT.id_text()).unwrap(), FRAGMENT);
    }

    #[test]
    fn mg_rel_005_ends_that_make_no_sense_refuses() {
        assert!(draft(RelationKind::Triggers, ITEM, ITEM).is_err());
        assert!(draft(RelationKind::Triggers, ITEM, FRAGMENT).is_err());
        assert!(draft(RelationKind::Mentions, FRAGMENT, ITEM).is_err());
        assert!(draft(RelationKind::Continues, ITEM, LOG).is_err());
        assert!(draft(RelationKind::Triggers, LOG, NEW_LOG).is_err());
        assert!(Endpoint::parse("item", "entity_01HQ3K4N7Y8M2P5R6T9W0X1Z2A").is_err());
        assert!(Endpoint::parse("planet", "item_01HQ3K4N7Y8M2P5R6T9W0X1Z2A").is_err());
    }

    #[test]
    fn mg_rel_007_confidence_of_an_inference_holds() {
        assert!(RelationDraft::new(RelationKind::Mentions, ITEM, OTHER, RelationAttributes::inferred(1.0)).is_ok());
    }

    #[test]
    fn mg_rel_007_confidence_out_of_range_or_on_a_stated_edge_refuses() {
        for confidence in [-0.1, 1.1, f64::NAN] {
            assert!(
                RelationDraft::new(RelationKind::Mentions, ITEM, OTHER, RelationAttributes::inferred(confidence))
                    .is_err()
            );
        }
        assert!(RelationDraft::new(RelationKind::Triggers, ITEM, OTHER, RelationAttributes::inferred(0.5)).is_err());
    }

    #[test]
    fn mg_rel_007_an_edge_that_was_read_is_judged_as_one_that_is_made_refuses() {
        let qualities = RelationAttributes::inferred(7.0);
        let read = RelationDraft { kind: RelationKind::Mentions, source: ITEM, target: OTHER, qualities };
        let (_, read) = RelationDraft::from_document(&read.to_document(RelationId::from_bytes([9; 16]))).unwrap();
        assert!(matches!(read.checked(), Err(BadItem::Rule(violation)) if violation.rule() == "MG-REL-007"));
    }

    #[test]
    fn mg_rel_009_inferred_edges_say_so_holds() {
        assert_eq!(RelationAttributes::inferred(0.9).metadata["inferred"], json!(true));
    }

    #[test]
    fn mg_rel_009_an_inference_that_does_not_say_so_refuses() {
        let unmarked = RelationAttributes { metadata: Map::new(), ..RelationAttributes::inferred(0.9) };
        let refused = RelationDraft::new(RelationKind::Mentions, ITEM, OTHER, unmarked).unwrap_err();
        assert!(matches!(refused, BadItem::Rule(violation) if violation.rule() == "MG-REL-009"));
    }

    #[test]
    fn mg_rel_010_both_spellings_of_superseding_holds() {
        assert_eq!(RelationKind::parse("supersedes").unwrap(), RelationKind::Supercedes);
        assert_eq!(RelationKind::parse("supercedes").unwrap().to_string(), "supercedes");
    }

    #[test]
    fn mg_rel_010_unknown_kinds_refuses() {
        assert_eq!(RelationKind::parse("likes").unwrap_err().rule(), "MG-REL-010");
    }

    #[test]
    fn the_fact_of_an_edge_reads_back_the_same() {
        let id = RelationId::from_bytes([9; 16]);
        let draft =
            RelationDraft::new(RelationKind::Mentions, ITEM, FRAGMENT, RelationAttributes::inferred(0.25)).unwrap();
        let item = draft.to_item(id).realize(ItemId::from_bytes([8; 16]), crate::UserId::SYSTEM, crate::Millis(0));
        assert_eq!(RelationDraft::from_document(&item.document().unwrap()), Some((id, draft)));
    }
}
