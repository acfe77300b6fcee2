//! Projects: what a person works in. Everybody has one from the start.

use skein_core::catalog::entry::Entry as _;
use skein_core::garden::project::Project;
use skein_core::{RecordId, Viewer};
use skein_store::{StoreError, Tx};

use crate::catalog::Shown;

/// Most projects that are looked through for the first one.
const PROJECTS_LOOKED_AT: usize = 100;

pub(super) fn load(tx: &mut Tx<'_>, viewer: &Viewer, id: RecordId) -> Result<Shown<Project>, StoreError> {
    tx.record(viewer, id)?.try_into()
}

/// The viewer's first project; made the first time it is needed.
pub(super) fn default_project(tx: &mut Tx<'_>, viewer: &Viewer) -> Result<RecordId, StoreError> {
    let page = tx.records(viewer, &Project::record_type(), None, PROJECTS_LOOKED_AT)?;
    for record in page.rows {
        let project: Shown<Project> = record.try_into()?;
        if project.entry.is_default {
            return Ok(project.id);
        }
    }
    Ok(tx.create_of_tree(viewer, Project::first().to_content(false))?.id)
}
