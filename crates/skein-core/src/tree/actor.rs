//! Who writes nodes.

/// Who wrote something: 16 bytes; for people those of their user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActorId([u8; 16]);

impl ActorId {
    pub const SYSTEM: Self = Self([0; 16]);
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
    pub fn bare(&self) -> String {
        crate::id::RecordId::from_bytes(self.0).bare()
    }
}
impl serde::Serialize for ActorId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.bare())
    }
}
impl<'de> serde::Deserialize<'de> for ActorId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let id = crate::id::RecordId::from_bare(&text).map_err(serde::de::Error::custom)?;
        Ok(Self(*id.as_bytes()))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AuthorType {
    Human,
    Model,
    System,
    Imported,
}
