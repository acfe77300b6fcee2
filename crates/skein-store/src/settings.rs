//! Settings: beliefs of the installation about itself, with a history like any other.

use serde_json::{Map, Value, json};
use skein_core::garden::record::{Record, RecordContent, RecordType};
use skein_core::{Digest, RuleViolation, Viewer};

use crate::error::StoreError;
use crate::tx::{Tx, system_only};

const SETTING: &str = "Setting";
/// Settings belong to the installation, for every reader.
const INSTALLATION: Viewer = Viewer::System("settings");

impl Tx<'_> {
    /// Everybody may know how the installation is set.
    pub fn setting(&mut self, _: &Viewer, name: &str) -> Result<Option<Record>, StoreError> {
        self.record_named(&INSTALLATION, &RecordType::parse(SETTING)?, name)
    }

    /// Changes a setting; `based_on` is the hash of the state that was looked at, if one was.
    pub fn set_setting(
        &mut self,
        viewer: &Viewer,
        name: &str,
        value: &Value,
        based_on: Option<Digest>,
    ) -> Result<Record, StoreError> {
        system_only(viewer)?;
        let record_type = RecordType::parse(SETTING)?;
        let data = Map::from_iter([("name".to_owned(), json!(name)), ("value".to_owned(), value.clone())]);
        let content = RecordContent::new(record_type, data);
        match self.setting(viewer, name)? {
            Some(current) => {
                self.change_record(&INSTALLATION, current.id, based_on.unwrap_or(current.hash), content, None)
            }
            None if based_on.is_some() => {
                let remedy = "leave basedOnHash out, or read the setting again";
                Err(RuleViolation::new("MG-CORE-002", "this setting was never changed: it has no hash", remedy).into())
            }
            None => self.create_record_for(&INSTALLATION, INSTALLATION.owner(), content, None),
        }
    }
}

/// What a setting's record says.
pub fn setting_value(record: &Record) -> Option<&Value> {
    record.content.data.get("value")
}
