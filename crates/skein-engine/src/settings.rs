//! Settings: what can be changed while running, read by whoever needs them.

use serde_json::{Map, Value, json};
use skein_core::garden::event::EventName;
use skein_core::garden::record::Record;
use skein_core::setting::{SETTINGS, Setting};
use skein_core::{Digest, Viewer};
use skein_store::settings::setting_value;
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::request::{Changed, Outcome, Request};

const SYSTEM: Viewer = Viewer::System("settings");

/// A setting as it stands.
#[derive(Debug, Clone)]
pub struct SettingState {
    /// Which one.
    pub setting: &'static Setting,
    /// What it is set to, or its default.
    pub value: i64,
    /// Its record, once somebody changed it.
    pub record: Option<Record>,
}

impl SettingState {
    fn of(setting: &'static Setting, record: Option<Record>) -> Self {
        let value = record.as_ref().and_then(setting_value).and_then(|value| setting.accept(value));
        Self { setting, value: value.unwrap_or(setting.default), record }
    }
}

impl Outcome for SettingState {
    fn reference(&self) -> Value {
        self.record.as_ref().map(Outcome::reference).unwrap_or_default()
    }

    fn recall(tx: &mut Tx<'_>, viewer: &Viewer, reference: &Value) -> Result<Self, StoreError> {
        let record = Record::recall(tx, viewer, reference)?;
        let setting = record.content.name().and_then(Setting::find);
        let setting = setting.ok_or_else(|| StoreError::NotFound("a setting of former times".to_owned()))?;
        Ok(Self::of(setting, Some(record)))
    }
}

impl Engine {
    /// One setting.
    pub async fn setting(&self, name: &str) -> Result<SettingState, EngineError> {
        let setting = Setting::find(name).ok_or_else(|| EngineError::NoSuchSetting(shortened(name)))?;
        let record = self.parts().store.read(move |tx| tx.setting(&SYSTEM, setting.name)).await?;
        Ok(SettingState::of(setting, record))
    }

    /// Every setting there is.
    pub async fn settings(&self) -> Result<Vec<SettingState>, EngineError> {
        let read = |tx: &mut Tx<'_>| {
            let state = |setting| Ok(SettingState::of(setting, tx.setting(&SYSTEM, setting.name)?));
            SETTINGS.iter().map(state).collect()
        };
        Ok(self.parts().store.read(read).await?)
    }

    /// Changes a setting, for administrators.
    pub async fn change_setting(
        &self,
        caller: &Caller,
        request: Request,
        name: &str,
        value: &Value,
        based_on: Option<Digest>,
    ) -> Result<Changed<SettingState>, EngineError> {
        caller.require_admin()?;
        let setting = Setting::find(name).ok_or_else(|| EngineError::NoSuchSetting(shortened(name)))?;
        let value = setting.accept(value).ok_or(EngineError::BadSetting(setting))?;
        self.change(caller, request, "setting.change", move |tx, viewer| {
            let record = tx.set_setting(&SYSTEM, setting.name, &json!(value), based_on)?;
            let told = Map::from_iter([("value".to_owned(), json!(value))]);
            tx.tell_own(viewer, EventName::SettingChanged, Some(setting.name), told)?;
            Ok(SettingState::of(setting, Some(record)))
        })
        .await
    }
}

fn shortened(name: &str) -> String {
    name.chars().take(100).collect()
}
