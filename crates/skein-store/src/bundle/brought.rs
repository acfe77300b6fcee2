//! What a user brings of the catalogue: entries of their own, which speak of what is theirs or what they may use here.

use skein_core::catalog::brought;
use skein_core::garden::record::Record;
use skein_core::{RecordId, RuleViolation, Viewer};

use super::aside::Aside;
use crate::error::StoreError;
use crate::references::{ReferenceKind, references_of};
use crate::store::Store;

/// Judges the last states of all entries that the bundle changes here. What they were on the way is history.
pub(crate) fn check(store: &Store, viewer: &Viewer, aside: &mut Aside) -> Result<(), StoreError> {
    for record in aside.continued_entries()? {
        if record.content.is_deleted() {
            refuse_in_use(store, &record)?;
            continue;
        }
        brought::check(&record.content).map_err(|violation| about(&record, &violation))?;
        for (kind, target) in references_of(&record.content) {
            // From which template something was made is told, and gives nothing.
            if kind != ReferenceKind::Template && !is_brought(aside, target)? {
                refuse_unseen(store, viewer, &record, (kind, target))?;
            }
        }
    }
    Ok(())
}

fn about(record: &Record, violation: &RuleViolation) -> RuleViolation {
    let problem = format!("{} is new here, and {}", record.id, violation.problem());
    RuleViolation::new(violation.rule(), problem, "ask who runs this installation to import the bundle")
}

/// Everything in the bundle is its owner's.
fn is_brought(aside: &mut Aside, target: RecordId) -> Result<bool, StoreError> {
    Ok(aside.record(target)?.is_some_and(|record| !record.content.is_deleted()))
}

fn refuse_unseen(
    store: &Store,
    viewer: &Viewer,
    record: &Record,
    (kind, target): (ReferenceKind, RecordId),
) -> Result<(), StoreError> {
    let viewer = viewer.clone();
    match store.read_blocking(move |tx| tx.record(&viewer, target)) {
        Ok(_) => Ok(()),
        Err(StoreError::NotFound(_)) => {
            let problem = format!("{} refers to a {kind} ({target}) that is not yours to use here", record.id);
            Err(RuleViolation::new("BR-SHARE-006", problem, "have it shared here, or export without what uses it")
                .into())
        }
        Err(error) => Err(error),
    }
}

/// A deletion elsewhere does not take from others what they use here (rule BR-SHARE-004).
fn refuse_in_use(store: &Store, record: &Record) -> Result<(), StoreError> {
    let (id, owner) = (record.id, record.owner);
    let by_others = store.read_blocking(move |tx| {
        let kinds = [ReferenceKind::Service, ReferenceKind::Secret, ReferenceKind::Tool];
        kinds.into_iter().try_fold(0, |sum, kind| Ok(sum + tx.referrers(id, kind, owner)?.by_others))
    })?;
    if by_others == 0 {
        return Ok(());
    }
    let problem = format!("{id} was deleted where the bundle was made, and others depend on it here");
    Err(RuleViolation::new("BR-SHARE-004", problem, "unshare it here, and import once they have let go of it").into())
}
