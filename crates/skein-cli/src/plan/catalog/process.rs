//! `process` as inquiries, and the names that stand for ids inside its steps.

use axum::http::Method;
use serde_json::{Map, Value};
use skein_core::RecordId;

use super::commands::{BodyFields, delete, show, switched};
use super::{
    CatalogTask, Change, Collection, DefaultChoice, Document, EntryName, NamedEntry, UnresolvedCatalogRequest,
};
use crate::arguments::{ProcessCommand, ProcessEdit};
use crate::definition::Source;
use crate::failure::Failure;
use crate::plan::api_request::portion;
use crate::views::catalog as views;

impl CatalogTask {
    pub(crate) fn of_process(command: ProcessCommand) -> Result<Self, Failure> {
        let process = |text: &str| NamedEntry::new(Collection::Processes, text);
        let sheet = &views::PROCESS;
        let post = || UnresolvedCatalogRequest::new(Method::POST, Collection::Processes);
        let whole = |file| Some(Document::Whole(Source::named(file)));
        Ok(match command {
            ProcessCommand::List { enabled, archived, amount: most } => {
                let inquiry =
                    UnresolvedCatalogRequest::new(Method::GET, Collection::Processes).with("enabled", enabled);
                let inquiry = inquiry.with("includeArchived", archived.then_some(true));
                Self::List { inquiry, list: &views::PROCESSES, portion: portion(most) }
            }
            ProcessCommand::Show { process: named, version: Some(version), .. } => {
                let inquiry = UnresolvedCatalogRequest::about(Method::GET, process(&named.process)?)
                    .with("version", Some(version));
                Self::Show { inquiry, sheet }
            }
            ProcessCommand::Show { process: named, written, .. } => show(process(&named.process)?, sheet, written.yaml),
            ProcessCommand::New { name, description, file } => {
                let fields = BodyFields::default().text("name", name).text("description", description);
                Self::Show { inquiry: post().with_fields(fields.0).with_document(whole(file)), sheet }
            }
            ProcessCommand::Import { file } => Self::Show { inquiry: post().with_document(whole(file)), sheet },
            ProcessCommand::Edit(edit) => Self::edit_process(edit)?,
            ProcessCommand::Delete(named) => delete(process(&named.process)?, sheet),
            ProcessCommand::Validate { file } => {
                Self::Validate(post().with_tail("/validate").with_document(whole(file)))
            }
            ProcessCommand::Health(named) => Self::ProcessHealth(
                UnresolvedCatalogRequest::about(Method::GET, process(&named.process)?).with_tail("/health"),
            ),
            ProcessCommand::Default { process: None, built_in: false } => {
                Self::DefaultProcess(DefaultChoice::Unchanged)
            }
            ProcessCommand::Default { process: None, .. } => Self::DefaultProcess(DefaultChoice::BuiltIn),
            ProcessCommand::Default { process: Some(named), .. } => {
                Self::DefaultProcess(DefaultChoice::Process(process(&named)?))
            }
            ProcessCommand::Export(named) => Self::ExportProcess(process(&named.process)?),
        })
    }

    fn edit_process(edit: ProcessEdit) -> Result<Self, Failure> {
        let ProcessEdit { process, name, description, file, switch } = edit;
        let fields = BodyFields::default().text("name", name).text("description", description);
        Ok(Self::Change(Change {
            thing: NamedEntry::new(Collection::Processes, &process.process)?,
            definition: file.map(Source::named),
            fields: fields.truth("enabled", switched(&switch)).0,
            references: Vec::new(),
        }))
    }
}

/// Puts ids where the steps of a definition have names.
pub(crate) fn resolve_targets(
    definition: &mut Map<String, Value>,
    mut find: impl FnMut(&NamedEntry) -> Result<RecordId, Failure>,
) -> Result<(), Failure> {
    each_target(definition.get_mut("steps"), &mut |shelf, target| {
        let Some(text) = target.as_str() else { return Ok(()) };
        let thing = NamedEntry::new(shelf, text)?;
        if matches!(thing.named, EntryName::Name(_)) {
            *target = find(&thing)?.to_string().into();
        }
        Ok(())
    })
}

/// Everything steps name: what they call, what they offer, and what stands in for them.
pub(crate) fn each_target(
    steps: Option<&mut Value>,
    with: &mut dyn FnMut(Collection, &mut Value) -> Result<(), Failure>,
) -> Result<(), Failure> {
    for step in steps.and_then(Value::as_array_mut).into_iter().flatten().filter_map(Value::as_object_mut) {
        for (member, shelf) in [("toolId", Collection::Tools), ("processId", Collection::Processes)] {
            step.get_mut(member).map_or(Ok(()), |target| with(shelf, target))?;
        }
        for offer in step.get_mut("tools").and_then(Value::as_array_mut).into_iter().flatten() {
            offer.get_mut("toolId").map_or(Ok(()), |target| with(Collection::Tools, target))?;
        }
        each_target(step.get_mut("fallback"), with)?;
    }
    Ok(())
}
