//! Settings: beliefs of the installation about itself, with a history like any other.

use serde_json::{Map, Value, json};
use skein_core::Viewer;
use skein_core::garden::record::{RecordContent, RecordType};

use crate::error::StoreError;
use crate::tx::Tx;

const SETTING: &str = "Setting";
const SYSTEM: Viewer = Viewer::System("settings");

impl Tx<'_> {
    pub fn setting(&mut self, name: &str) -> Result<Option<Value>, StoreError> {
        let record = self.record_named(&SYSTEM, &RecordType::parse(SETTING)?, name)?;
        Ok(record.and_then(|record| record.content.data.get("value").cloned()))
    }

    /// Changes a setting; who may is decided by whoever calls.
    pub fn set_setting(&mut self, name: &str, value: &Value) -> Result<(), StoreError> {
        let record_type = RecordType::parse(SETTING)?;
        let data = Map::from_iter([("name".to_owned(), json!(name)), ("value".to_owned(), value.clone())]);
        let content = RecordContent::new(record_type.clone(), data);
        match self.record_named(&SYSTEM, &record_type, name)? {
            Some(current) => self.update_record(&SYSTEM, current.id, current.hash, content, None)?,
            None => self.create_record(&SYSTEM, content, None)?,
        };
        Ok(())
    }
}
