//! Creates, edits, removes and lists relations, with one interface for every cardinality (rule MG-REL-008).

use skein_core::catalog::sharing::SharingRefusal;
use skein_core::garden::cursor::Cursor;
use skein_core::garden::record::RecordType;
use skein_core::garden::relation::{
    Cardinality, Endpoint, EndpointKind, Relation, RelationAttributes, RelationDraft, RelationEnd, RelationKind,
};
use skein_core::{ItemId, Millis, RecordId, ReferenceField, RelationId, RuleViolation, UserId, Viewer};

use crate::db::sql::{Row, Value, params};
use crate::error::{SqlError, StoreError};
use crate::timeline::items::{Page, page};
use crate::timeline::projection::{CONVERSATION, taken};
use crate::tx::Tx;

/// Most edges one page holds.
pub const RELATIONS_PER_PAGE_MAX: usize = 1_000;
/// Most steps of a chain one query follows.
pub const CHAIN_STEPS_MAX: usize = 100_000;

/// How far a chain is followed along kinds of which many may meet at a thing.
const MESH_DISTANCE_MAX: usize = 256;

/// The ends of an edge, as requests call them.
const SOURCE: &str = "source";
const TARGET: &str = "target";

pub(crate) const RELATION_COLUMNS: &str =
    "id, kind, source_type, source, target_type, target, target_position, confidence, metadata, realized_at";

/// Which edges at a thing are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelationSide {
    /// Those that lead away from it.
    Outgoing,
    /// Those that lead to it.
    Incoming,
}

/// One thing on a chain and how many edges away it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RelationPathStep {
    pub endpoint: Endpoint,
    pub distance: i64,
}

impl Tx<'_> {
    /// Makes an edge between two things the viewer may see.
    pub fn relate(&mut self, viewer: &Viewer, draft: &RelationDraft) -> Result<Relation, StoreError> {
        let has_order = draft.kind().earlier_end().is_some();
        check_ends(draft, &mut |end| self.related_thing(viewer, end, has_order))?;
        let id = RelationId::new(self.id_time(), self.entropy());
        self.append_item(viewer, &draft.to_item(id)).map_err(|error| clash(draft.kind(), error))?;
        Ok(draft.clone().into_relation(id, self.now()))
    }

    /// Removes the edges by which an undone item takes the only place at another: that one may get another cause, or another
    /// successor.
    pub(crate) fn withdraw_relations_of(&mut self, viewer: &Viewer, undone: ItemId) -> Result<(), StoreError> {
        let of = Endpoint::Item(undone);
        let only = RelationKind::ALL.iter().filter(|kind| kind.cardinality() == Cardinality::OnePerTarget);
        for kind in only {
            loop {
                let page =
                    self.relations(viewer, of, RelationSide::Outgoing, Some(*kind), None, RELATIONS_PER_PAGE_MAX)?;
                for relation in &page.rows {
                    self.append_item(viewer, &relation.withdraw())?;
                }
                if page.next.is_none() {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Changes confidence and metadata of an edge that is not frozen.
    pub fn edit_relation(
        &mut self,
        viewer: &Viewer,
        id: RelationId,
        qualities: &RelationAttributes,
    ) -> Result<(), StoreError> {
        let relation = self.own_relation(viewer, id)?;
        self.append_item(viewer, &relation.edit(qualities)?)?;
        Ok(())
    }

    /// Removes an edge that is not frozen; that it was there stays on the timeline.
    pub fn remove_relation(&mut self, viewer: &Viewer, id: RelationId, reason: &str) -> Result<(), StoreError> {
        let relation = self.own_relation(viewer, id)?;
        self.append_item(viewer, &relation.remove(reason)?)?;
        Ok(())
    }

    /// A relation to be changed: seeing one by a grant is not enough.
    fn own_relation(&mut self, viewer: &Viewer, id: RelationId) -> Result<Relation, StoreError> {
        if viewer.may_write(viewer.subject()) { self.relation(viewer, id) } else { Err(StoreError::Forbidden) }
    }

    pub fn relation(&mut self, viewer: &Viewer, id: RelationId) -> Result<Relation, StoreError> {
        let sql = format!("SELECT {RELATION_COLUMNS} FROM relations WHERE id = ?1 AND owner = ?2");
        let owner = self.subject(viewer)?;
        let found = self.first(&sql, params![&id, &owner], read_relation)?;
        found.ok_or_else(|| StoreError::NotFound(id.to_string()))
    }

    /// The viewer's edges at a thing, of one kind or all, by id.
    pub fn relations(
        &mut self,
        viewer: &Viewer,
        of: Endpoint,
        side: RelationSide,
        kind: Option<RelationKind>,
        after: Option<RelationId>,
        limit: usize,
    ) -> Result<Page<Relation, RelationId>, StoreError> {
        let end = match side {
            RelationSide::Outgoing => "source",
            RelationSide::Incoming => "target",
        };
        let of_type = of_type(of, &format!("{end}_type"));
        let of_kind = if kind.is_some() { "AND kind = ?6" } else { "" };
        let position = of.position().map(|_| format!("AND target_position = ?{}", if kind.is_some() { 7 } else { 6 }));
        let position = position.unwrap_or_default();
        let sql = format!(
            "SELECT {RELATION_COLUMNS} FROM relations
             WHERE {end} = ?1 AND {of_type} {of_kind} AND owner = ?3 AND id > ?4 {position} ORDER BY id LIMIT ?5"
        );
        let (owner, after) = (self.subject(viewer)?, after.unwrap_or(RelationId::from_bytes([0; 16])));
        let limit = limit.clamp(1, RELATIONS_PER_PAGE_MAX);
        let one_more = i64::try_from(limit + 1).expect("pages are small");
        let mut bound = params![of.id_bytes(), of.kind().as_str(), &owner, &after, one_more].to_vec();
        bound.extend(kind.map(|kind| Value::from(kind.as_str())));
        bound.extend(of.position().map(|position| Value::Int(position.into())));
        let rows = self.all(&sql, &bound, read_relation)?;
        Ok(page(rows, limit, |last| last.id))
    }

    /// What caused an item, if anything did.
    pub fn triggering(&mut self, viewer: &Viewer, item: ItemId) -> Result<Option<Endpoint>, StoreError> {
        self.only_source(viewer, item, RelationKind::Triggers)
    }

    /// What replaced an item, if anything did.
    pub fn superseding(&mut self, viewer: &Viewer, item: ItemId) -> Result<Option<Endpoint>, StoreError> {
        self.only_source(viewer, item, RelationKind::Supercedes)
    }

    fn only_source(
        &mut self,
        viewer: &Viewer,
        item: ItemId,
        kind: RelationKind,
    ) -> Result<Option<Endpoint>, StoreError> {
        let found = self.relations(viewer, Endpoint::Item(item), RelationSide::Incoming, Some(kind), None, 1)?;
        Ok(found.rows.first().map(|relation| relation.source))
    }

    /// Everything an item mentions.
    pub fn mentions(&mut self, viewer: &Viewer, item: ItemId) -> Result<Vec<Endpoint>, StoreError> {
        let of = Endpoint::Item(item);
        let kind = Some(RelationKind::Mentions);
        let found = self.relations(viewer, of, RelationSide::Outgoing, kind, None, RELATIONS_PER_PAGE_MAX)?;
        Ok(found.rows.iter().map(|relation| relation.target).collect())
    }

    /// Everything reached from a thing along one kind of edge, each once, nearest first, in one query.
    pub fn chain(
        &mut self,
        viewer: &Viewer,
        from: Endpoint,
        side: RelationSide,
        kind: RelationKind,
        steps_max: usize,
    ) -> Result<Vec<RelationPathStep>, StoreError> {
        let (near, far) = match side {
            RelationSide::Outgoing => ("source", "target"),
            RelationSide::Incoming => ("target", "source"),
        };
        let of_type = of_type(from, &format!("r.{near}_type"));
        let position = if side == RelationSide::Outgoing { "r.target_position" } else { "CAST(NULL AS BIGINT)" };
        // Where many edges meet, the same thing is reached on many ways: counted once per distance, not once per way.
        let (union, distance_max) = match kind.cardinality() {
            Cardinality::Many => ("UNION", MESH_DISTANCE_MAX),
            Cardinality::OnePerTarget | Cardinality::OnePerSource => ("UNION ALL", CHAIN_STEPS_MAX),
        };
        let sql = format!(
            "WITH RECURSIVE chain (type, id, position, distance) AS (
                 SELECT r.{far}_type, r.{far}, {position}, CAST(1 AS BIGINT) FROM relations r
                 WHERE r.{near} = ?1 AND {of_type} AND r.kind = ?3 AND r.owner = ?4
                 {union}
                 SELECT r.{far}_type, r.{far}, {position}, chain.distance + 1 FROM chain
                 JOIN relations r ON r.{near} = chain.id AND r.kind = ?3 AND r.owner = ?4
                 WHERE chain.distance < ?5
             )
             SELECT type, id, position, distance FROM chain LIMIT ?6"
        );
        let steps_max = i64::try_from(steps_max.clamp(1, CHAIN_STEPS_MAX)).expect("chains are bounded");
        let distance_max = i64::try_from(distance_max).expect("chains are bounded").min(steps_max);
        let owner = self.subject(viewer)?;
        let bound = params![from.id_bytes(), from.kind().as_str(), kind.as_str(), &owner, distance_max, steps_max];
        let read = |row: &dyn Row| {
            Ok(RelationPathStep { endpoint: read_endpoint(row, 0, 1, Some(2))?, distance: row.int(3)? })
        };
        let mut steps = self.all(&sql, bound, read)?;
        steps.sort_by_key(|step| step.distance);
        let mut reached = std::collections::BTreeSet::from([from]);
        steps.retain(|step| reached.insert(step.endpoint));
        Ok(steps)
    }

    /// Where the chain of causes of an item begins: the item itself when nothing caused it.
    pub fn root_cause(&mut self, viewer: &Viewer, item: ItemId) -> Result<Endpoint, StoreError> {
        let causes =
            self.chain(viewer, Endpoint::Item(item), RelationSide::Incoming, RelationKind::Triggers, CHAIN_STEPS_MAX)?;
        let root = causes.iter().max_by_key(|step| step.distance);
        Ok(root.map_or(Endpoint::Item(item), |step| step.endpoint))
    }

    /// What an end of an edge is, if the viewer may see it; the place of a record only where the kind has an order.
    fn related_thing(
        &mut self,
        viewer: &Viewer,
        end: Endpoint,
        has_order: bool,
    ) -> Result<RelatedThing<Cursor>, StoreError> {
        match end {
            Endpoint::Item(item) | Endpoint::Fragment { item, .. } => {
                Ok(RelatedThing::Item(self.item(viewer, item)?.cursor))
            }
            Endpoint::Entity(record) | Endpoint::Artifact(record) | Endpoint::Log(record) => {
                let found = self.record(viewer, record)?.content.record_type;
                Ok(RelatedThing::Record(found, if has_order { self.made_at(record)? } else { None }))
            }
        }
    }

    /// Refuses an edge of a kind of which one of its ends has its only one already.
    pub(crate) fn refuse_second(&mut self, owner: UserId, draft: &RelationDraft) -> Result<(), StoreError> {
        let (column, end) = match draft.kind().cardinality() {
            Cardinality::OnePerTarget => (TARGET, draft.target()),
            Cardinality::OnePerSource => (SOURCE, draft.source()),
            Cardinality::Many => return Ok(()),
        };
        let sql = format!("SELECT id FROM relations WHERE owner = ?1 AND kind = ?2 AND {column} = ?3 LIMIT 1");
        let there = self.first(&sql, params![&owner, draft.kind().as_str(), end.id_bytes()], |_| Ok(()))?;
        if there.is_none() { Ok(()) } else { Err(taken(draft.kind()).into()) }
    }

    /// The place of a record's first version on the timeline.
    pub(crate) fn made_at(&mut self, record: RecordId) -> Result<Option<Cursor>, StoreError> {
        let sql = "SELECT tx, position FROM record_versions WHERE record = ?1 AND version = 1";
        self.first(sql, params![&record], |row| Ok(Cursor { tx: row.int(0)?, position: row.int(1)? }))
    }
}

/// What an end of an edge was found to be: an item or a record, with its place on the timeline where that counts.
pub(crate) enum RelatedThing<P> {
    Item(P),
    Record(RecordType, Option<P>),
}

/// Refuses ends that do not exist, are not visible or of another kind, and an edge against the order of what it joins.
pub(crate) fn check_ends<P: Ord>(
    draft: &RelationDraft,
    find: &mut dyn FnMut(Endpoint) -> Result<RelatedThing<P>, StoreError>,
) -> Result<(), StoreError> {
    let source = check_end(draft.kind(), SOURCE, draft.source(), find)?;
    let target = check_end(draft.kind(), TARGET, draft.target(), find)?;
    Ok(refuse_wrong_order(draft.kind(), source, target)?)
}

/// The place of an end on the timeline, where that counts.
fn check_end<P>(
    kind: RelationKind,
    end: &'static str,
    endpoint: Endpoint,
    find: &mut dyn FnMut(Endpoint) -> Result<RelatedThing<P>, StoreError>,
) -> Result<Option<P>, StoreError> {
    let noun = noun(kind, end, endpoint);
    let (reference, id) = (ReferenceField::new("MG-REL-005", end, noun), endpoint.id_text());
    match endpoint {
        Endpoint::Fragment { .. } | Endpoint::Artifact(_) => return Err(not_there_yet(endpoint.kind()).into()),
        Endpoint::Item(_) if kind == RelationKind::GroupsWith => return Err(reference.unusable(id).into()),
        Endpoint::Item(_) | Endpoint::Entity(_) | Endpoint::Log(_) => {}
    }
    match find(endpoint).map_err(|error| error.of_reference(reference, &id))? {
        RelatedThing::Item(place) => Ok(Some(place)),
        RelatedThing::Record(found, place) if is_of_kind(noun, &found) => Ok(place),
        RelatedThing::Record(..) => Err(reference.unusable(id).into()),
    }
}

fn is_of_kind(noun: &str, found: &RecordType) -> bool {
    match noun {
        "conversation" => found.as_str() == CONVERSATION,
        "project" => found.as_str() == "Project",
        _ => true,
    }
}

/// A second edge where one kind allows only one clashes with what exists (decision A16).
fn clash(kind: RelationKind, error: StoreError) -> StoreError {
    match error {
        StoreError::Rule(violation) if violation.rule() == kind.cardinality_rule() => {
            SharingRefusal::Conflict(violation).into()
        }
        other => other,
    }
}

/// The condition ?2 of the type of an end. A record is the same thing as an entity, as a conversation and as an artifact.
fn of_type(of: Endpoint, column: &str) -> String {
    match of.kind() {
        EndpointKind::Item | EndpointKind::Fragment => format!("{column} = ?2"),
        EndpointKind::Entity | EndpointKind::Artifact | EndpointKind::Log => {
            format!("{column} IN (?2, 'entity', 'artifact', 'log')")
        }
    }
}

/// What an end of an edge has to be. Only conversations are grouped yet, and only by projects.
fn noun(kind: RelationKind, end: &str, endpoint: Endpoint) -> &'static str {
    match (kind, endpoint) {
        (RelationKind::GroupsWith, _) if end == TARGET => "project",
        (RelationKind::GroupsWith, _) | (_, Endpoint::Log(_)) => "conversation",
        (_, other) => other.kind().as_str(),
    }
}

/// Relations to some that were stored before can be read.
fn not_there_yet(kind: EndpointKind) -> RuleViolation {
    let problem = format!("a relation cannot name a {kind} yet: there are none");
    RuleViolation::new("MG-REL-005", problem, "name an item, an entity or a conversation")
}

fn refuse_wrong_order<P: Ord>(kind: RelationKind, source: Option<P>, target: Option<P>) -> Result<(), RuleViolation> {
    let (Some(earlier), Some(source), Some(target)) = (kind.earlier_end(), source, target) else {
        return Ok(());
    };
    let in_order = match earlier {
        RelationEnd::Source => source < target,
        RelationEnd::Target => target < source,
    };
    if in_order {
        return Ok(());
    }
    let problem = format!("{kind} would lead against the order in which the two were recorded");
    Err(RuleViolation::new("MG-REL-005", problem, "swap source and target"))
}

pub(crate) fn read_relation(row: &dyn Row) -> Result<Relation, SqlError> {
    let unreadable = |what: &str| SqlError::Other(format!("a relation has an unreadable {what}; run skein verify"));
    Ok(Relation {
        id: RelationId::from_bytes(row.array(0)?),
        kind: RelationKind::parse(row.text(1)?).map_err(|_| unreadable("kind"))?,
        source: read_endpoint(row, 2, 3, None)?,
        target: read_endpoint(row, 4, 5, Some(6))?,
        qualities: RelationAttributes {
            confidence: row.optional_real(7)?,
            metadata: serde_json::from_str(row.text(8)?).map_err(|_| unreadable("metadata"))?,
        },
        realized_at: Millis(row.int(9)?),
    })
}

fn read_endpoint(row: &dyn Row, kind: usize, id: usize, position: Option<usize>) -> Result<Endpoint, SqlError> {
    let position = position.map(|column| row.optional_int(column)).transpose()?.flatten();
    let endpoint = EndpointKind::parse(row.text(kind)?).and_then(|kind| {
        Endpoint::from_parts(kind, row.array(id).ok()?, position.and_then(|position| position.try_into().ok()))
    });
    endpoint.ok_or_else(|| SqlError::Other("a relation has an unreadable end; run skein verify".to_owned()))
}
