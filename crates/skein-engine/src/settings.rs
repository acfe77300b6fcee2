//! Settings: what can be changed while running, read by whoever needs them.

use serde_json::{Map, Value};
use skein_core::catalog::operation::Operation;
use skein_core::catalog::tool::Tool;
use skein_core::garden::event::EventName;
use skein_core::garden::record::Record;
use skein_core::setting::{SETTINGS, SUMMARY_TOOL, Setting};
use skein_core::{Digest, ReferenceField, RuleViolation, UserId, Viewer};
use skein_store::settings::setting_value;
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::catalog::{self, StoredEntry};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::request::{CommittedChange, Outcome, Request};

const SYSTEM: Viewer = Viewer::System("settings");

/// The tool that a setting names.
const TOOL: ReferenceField = ReferenceField::new("AG-SUM-003", "value", "tool");

/// A setting as it stands.
#[derive(Debug, Clone)]
pub struct SettingState {
    /// Which one.
    pub setting: &'static Setting,
    /// What it is set to, or its default.
    pub value: Value,
    /// Its record, once somebody changed it.
    pub record: Option<Record>,
}

impl SettingState {
    pub(crate) fn of(setting: &'static Setting, record: Option<Record>) -> Self {
        let value = record.as_ref().and_then(setting_value).and_then(|value| setting.accept(value));
        Self { setting, value: value.unwrap_or_else(|| setting.default()), record }
    }

    /// The value of a setting that is a number.
    pub(crate) fn number(&self) -> i64 {
        self.value.as_i64().or_else(|| self.setting.default().as_i64()).unwrap_or_default()
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

    /// A setting that is a number, as it stands; where it cannot be read, its default.
    pub(crate) async fn number(&self, setting: &'static Setting) -> i64 {
        match self.setting(setting.name).await {
            Ok(state) => state.number(),
            Err(_) => SettingState::of(setting, None).number(),
        }
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
    ) -> Result<CommittedChange<SettingState>, EngineError> {
        caller.require_admin()?;
        let setting = Setting::find(name).ok_or_else(|| EngineError::NoSuchSetting(shortened(name)))?;
        let value = setting.accept(value).ok_or(EngineError::BadSetting(setting))?;
        self.change_admitted(caller, request, "setting.change", move |tx, viewer| {
            if setting == &SUMMARY_TOOL {
                refuse_without_model(tx, viewer, &value)?;
            }
            // What it was is told too, for whoever takes it back.
            let before = SettingState::of(setting, tx.setting(&SYSTEM, setting.name)?).value;
            let record = tx.set_setting(&SYSTEM, setting.name, &value, based_on)?;
            let told = Map::from_iter([("before".to_owned(), before), ("value".to_owned(), value.clone())]);
            tx.tell_own(viewer, EventName::SettingChanged, Some(setting.name), told)?;
            Ok(SettingState::of(setting, Some(record)))
        })
        .await
    }
}

/// AG-SUM-003: summaries are written by a model, so the tool has to ask one.
fn refuse_without_model(tx: &mut Tx<'_>, viewer: &Viewer, tool: &Value) -> Result<(), StoreError> {
    let Some(id) = tool.as_str().and_then(|id| id.parse().ok()) else { return Ok(()) };
    let tool: StoredEntry<Tool> = catalog::load_named(tx, viewer, TOOL, id)?;
    // Whoever's key is used pays for what everybody says.
    if tool.owner != viewer.owner() && tool.owner != UserId::SYSTEM {
        let problem = format!("the tool {:?} is somebody else's, and they would pay for it", tool.entry.name.as_str());
        return Err(RuleViolation::new("AG-SUM-003", problem, "name a tool of your own").into());
    }
    if matches!(tool.entry.operation, Operation::LlmCall(_)) {
        return Ok(());
    }
    let problem = format!("the tool {:?} asks no language model", tool.entry.name.as_str());
    Err(RuleViolation::new("AG-SUM-003", problem, "name a tool whose operation is an llm_call").into())
}

fn shortened(name: &str) -> String {
    name.chars().take(100).collect()
}
