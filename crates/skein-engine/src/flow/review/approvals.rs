//! Approvals that stand: given with a decision, looked at whenever somebody would be asked, listed and revoked (decision Z14).

use skein_core::catalog::entry::Entry as _;
use skein_core::catalog::sharing::SharingRefusal;
use skein_core::catalog::tool::Tool;
use skein_core::flow::approval::StandingApproval;
use skein_core::flow::execution::review::ReviewRequest;
use skein_core::flow::step::Reference;
use skein_core::{RecordId, ReviewId, RuleViolation, UserId, Viewer};
use skein_store::catalog::entries::{OwnershipFilter, VisibleQuery};
use skein_store::timeline::items::Page;
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::catalog::{NewVersion, PastTools, Restoration, SYSTEM, StoredEntry, load, make, save, shown_page};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::flow::execution::transaction::ExecutionTransaction;
use crate::request::{CommittedChange, Request};

/// An approval that stands, and what it is for.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownApproval {
    /// The approval.
    pub approval: StoredEntry<StandingApproval>,
    /// How the tool is called now; nothing once it is gone.
    pub tool_name: Option<String>,
    /// Whether the tool is still what was approved.
    pub counts: bool,
}

impl Engine {
    /// What the caller need not be asked about.
    pub async fn approvals(
        &self,
        caller: &Caller,
        after: Option<RecordId>,
        limit: usize,
    ) -> Result<Page<ShownApproval, RecordId>, EngineError> {
        let viewer = caller.viewer();
        let list = move |tx: &mut Tx<'_>| {
            let own = VisibleQuery::of(StandingApproval::record_type(), limit);
            let page =
                shown_page(tx.records_visible(&viewer, &VisibleQuery { whose: OwnershipFilter::Own, after, ..own })?)?;
            let rows = page.rows.into_iter().map(|approval| show(tx, approval)).collect::<Result<_, _>>()?;
            Ok(Page { rows, next: page.next })
        };
        Ok(self.parts().store.read(list).await?)
    }

    /// Asks about the tool again, from the next call on.
    pub async fn revoke_approval(
        &self,
        caller: &Caller,
        request: Request,
        id: RecordId,
    ) -> Result<CommittedChange<StoredEntry<StandingApproval>>, EngineError> {
        self.change(caller, request, "approval.revoke", move |tx, viewer| {
            let current: StoredEntry<StandingApproval> = load(tx, viewer, id)?;
            tx.delete_record(viewer, current.id, None, None)?.try_into()
        })
        .await
    }
}

fn show(tx: &mut Tx<'_>, approval: StoredEntry<StandingApproval>) -> Result<ShownApproval, StoreError> {
    let tool = match load::<Tool>(tx, &SYSTEM, approval.entry.tool_id) {
        Ok(tool) => Some(tool),
        Err(StoreError::NotFound(_)) => None,
        Err(error) => return Err(error),
    };
    let counts = tool.as_ref().is_some_and(|tool| approval.entry.covers(tool.id, &tool.entry));
    Ok(ShownApproval { approval, tool_name: tool.map(|tool| tool.entry.name.as_str().to_owned()), counts })
}

/// Lets an approval stand for the tool as it is now, in place of one for what it was.
pub(crate) fn give(tx: &mut Tx<'_>, viewer: &Viewer, named: Reference, review: ReviewId) -> Result<(), StoreError> {
    let tool: StoredEntry<Tool> = load(tx, viewer, named.id)?;
    if is_past(tx, &tool, viewer.owner(), named)? {
        let problem = "the step calls an earlier version, and what is approved for good is the tool as it is now";
        return Err(RuleViolation::new("BR-STEP-006", problem, "approve it once or for this run").into());
    }
    let given = StandingApproval::give(tool.id, &tool.entry, review);
    match standing(tx, viewer, tool.id)? {
        Some(current) if current.entry.covers(tool.id, &tool.entry) => Ok(()),
        Some(current) => save(tx, viewer, &current, &given, NewVersion::of(&current)).map(drop),
        None => make(tx, viewer, &given, false).map(drop),
    }
}

/// Whether what is named is not what the tool does now; what cannot be called is not either.
fn is_past(tx: &mut Tx<'_>, tool: &StoredEntry<Tool>, by: UserId, named: Reference) -> Result<bool, StoreError> {
    match PastTools::default().defined_as(tx, tool.clone(), by, named.version) {
        Ok(defined) => Ok(defined.entry.definition_version != tool.entry.definition_version),
        Err(StoreError::Rule(_)) => Ok(true),
        Err(error) => Err(error),
    }
}

fn standing(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    tool: RecordId,
) -> Result<Option<StoredEntry<StandingApproval>>, StoreError> {
    let named = tx.record_named(viewer, &StandingApproval::record_type(), &StandingApproval::name_of(tool))?;
    named.map(StoredEntry::try_from).transpose()
}

/// Whether an approval that was revoked may count again: there is one for each tool, for what that did then.
pub(crate) fn check_restored_approval(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    restoring: &Restoration<'_, StandingApproval>,
) -> Result<(), StoreError> {
    let Restoration { current, next, is_gone } = restoring;
    let refuse =
        |problem, remedy| Err(SharingRefusal::Conflict(RuleViolation::new("BR-STEP-006", problem, remedy)).into());
    if standing(tx, viewer, next.tool_id)?.is_some_and(|other| other.id != current.id) {
        return refuse("another approval stands for this tool by now", "revoke that one first");
    }
    let covers = match load::<Tool>(tx, viewer, next.tool_id) {
        Ok(tool) => next.covers(tool.id, &tool.entry),
        Err(StoreError::NotFound(_)) => false,
        Err(error) => return Err(error),
    };
    if *is_gone && !covers {
        return refuse("the tool is not what was approved any more", "approve it when you are next asked");
    }
    Ok(())
}

impl ExecutionTransaction<'_, '_> {
    /// Whether what would be asked was approved for good.
    pub(crate) fn is_approved_for_good(&mut self, owner: UserId, asked: &ReviewRequest) -> Result<bool, StoreError> {
        let Some(named) = asked.approvable() else { return Ok(false) };
        let viewer = Viewer::User(owner);
        let Some(approval) = standing(self.tx, &viewer, named.id)? else { return Ok(false) };
        let tool: StoredEntry<Tool> = match load(self.tx, &viewer, named.id) {
            Ok(tool) => tool,
            // Whether it can be called at all is judged when it is.
            Err(StoreError::NotFound(_) | StoreError::Refused(_)) => return Ok(false),
            Err(error) => return Err(error),
        };
        if !approval.entry.covers(tool.id, &tool.entry) || is_past(self.tx, &tool, owner, named)? {
            return Ok(false);
        }
        self.relied_on.push((approval.id, approval.hash));
        Ok(true)
    }
}
