//! Templates of services and tools: anybody makes them, nobody alters them, nothing depends on them.

use skein_core::catalog::entry::Entry;
use skein_core::catalog::sharing;
use skein_core::catalog::template::{
    ServiceTemplate, ServiceTemplateDraft, TemplateChange, ToolTemplate, ToolTemplateDraft,
};
use skein_core::garden::record::Act;
use skein_core::{Digest, RecordId, RuleViolation};
use skein_store::Tx;
use skein_store::catalog::entries::OwnershipFilter;
use skein_store::catalog::references::ReferenceKind;
use skein_store::timeline::items::Page;

use crate::account::Caller;
use crate::catalog::{NewVersion, StoredEntry, load, make, save, shown_page};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::request::{CommittedChange, Request};

/// What both kinds of template have in common.
pub trait Template: Entry + Clone + Send + 'static {
    /// What is made from it.
    type Instance: Entry + Send + 'static;
    /// As what its change is on record.
    const CHANGE: &'static str;

    /// The template after a change.
    fn changed(&self, change: &TemplateChange) -> Result<Self, RuleViolation>;
    /// Whether nothing new is made from it.
    fn is_archived(&self) -> bool;
    /// What an instance is called.
    fn name_of(instance: &Self::Instance) -> &str;
}

impl Template for ServiceTemplate {
    type Instance = skein_core::catalog::service::Service;
    const CHANGE: &'static str = "service_template.change";

    fn changed(&self, change: &TemplateChange) -> Result<Self, RuleViolation> {
        self.change(change)
    }

    fn is_archived(&self) -> bool {
        self.archived
    }

    fn name_of(instance: &Self::Instance) -> &str {
        instance.name.as_str()
    }
}

impl Template for ToolTemplate {
    type Instance = skein_core::catalog::tool::Tool;
    const CHANGE: &'static str = "tool_template.change";

    fn changed(&self, change: &TemplateChange) -> Result<Self, RuleViolation> {
        self.change(change)
    }

    fn is_archived(&self) -> bool {
        self.archived
    }

    fn name_of(instance: &Self::Instance) -> &str {
        instance.name.as_str()
    }
}

impl Engine {
    /// Makes a template of services.
    pub async fn create_service_template(
        &self,
        caller: &Caller,
        request: Request,
        draft: ServiceTemplateDraft,
    ) -> Result<CommittedChange<StoredEntry<ServiceTemplate>>, EngineError> {
        let engine = self.clone();
        self.change(caller, request, "service_template.create", move |tx, viewer| {
            let template = ServiceTemplate::create_by(draft.clone(), &engine.judge(viewer.owner()))?;
            make(tx, viewer, &template, draft.shared)
        })
        .await
    }

    /// Makes a template of tools.
    pub async fn create_tool_template(
        &self,
        caller: &Caller,
        request: Request,
        draft: ToolTemplateDraft,
    ) -> Result<CommittedChange<StoredEntry<ToolTemplate>>, EngineError> {
        let engine = self.clone();
        self.change(caller, request, "tool_template.create", move |tx, viewer| {
            let template = ToolTemplate::create_by(draft.clone(), &engine.judge(viewer.owner()))?;
            make(tx, viewer, &template, draft.shared)
        })
        .await
    }

    /// Shares, archives or restores a template; nothing else about it changes.
    pub async fn change_template<T: Template>(
        &self,
        caller: &Caller,
        request: Request,
        id: RecordId,
        change: TemplateChange,
        based_on: Option<Digest>,
    ) -> Result<CommittedChange<StoredEntry<T>>, EngineError> {
        self.change(caller, request, T::CHANGE, move |tx, viewer| {
            let current: StoredEntry<T> = load(tx, viewer, id)?;
            sharing::check_change(viewer, current.standing(), tx.now())?;
            let next = current.entry.changed(&change)?;
            let act = if next.is_archived() && !current.entry.is_archived() { Act::Archived } else { Act::Plain };
            let shared = change.shared.unwrap_or(current.shared);
            save(tx, viewer, &current, &next, NewVersion { shared, act, ..NewVersion::based_on(&current, based_on) })
        })
        .await
    }

    /// What was made from a template, as far as the caller may see it.
    pub async fn instances<T: Template>(
        &self,
        caller: &Caller,
        id: RecordId,
        whose: OwnershipFilter,
        after: Option<RecordId>,
        limit: usize,
    ) -> Result<Page<StoredEntry<T::Instance>, RecordId>, EngineError> {
        let viewer = caller.viewer();
        let list = move |tx: &mut Tx<'_>| {
            let _: StoredEntry<T> = load(tx, &viewer, id)?;
            shown_page(tx.instances(&viewer, id, ReferenceKind::Template, whose, after, limit)?)
        };
        Ok(self.parts().store.read(list).await?)
    }
}
