//! Settings: beliefs of the installation about itself, with a history like any other.

use serde_json::{Map, Value, json};
use skein_core::Viewer;
use skein_core::garden::record::{RecordContent, RecordType};

use crate::error::StoreError;
use crate::tx::{Tx, system_only};

const SETTING: &str = "Setting";
/// Settings belong to the installation, whoever reads them.
const INSTALLATION: Viewer = Viewer::System("settings");

impl Tx<'_> {
    /// Everybody may know how the installation is set.
    pub fn setting(&mut self, _: &Viewer, name: &str) -> Result<Option<Value>, StoreError> {
        let record = self.record_named(&INSTALLATION, &RecordType::parse(SETTING)?, name)?;
        Ok(record.and_then(|record| record.content.data.get("value").cloned()))
    }

    /// Changes a setting.
    pub fn set_setting(&mut self, viewer: &Viewer, name: &str, value: &Value) -> Result<(), StoreError> {
        system_only(viewer)?;
        let record_type = RecordType::parse(SETTING)?;
        let data = Map::from_iter([("name".to_owned(), json!(name)), ("value".to_owned(), value.clone())]);
        let content = RecordContent::new(record_type.clone(), data);
        match self.record_named(&INSTALLATION, &record_type, name)? {
            Some(current) => self.change_record(&INSTALLATION, current.id, current.hash, content, None)?,
            None => self.create_record_for(&INSTALLATION, INSTALLATION.owner(), content, None)?,
        };
        Ok(())
    }
}
