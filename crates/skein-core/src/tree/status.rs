//! Whether a node is there, and whether it still fits what stands above it.

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GenerationStatus {
    Pending,
    Complete,
    Failed,
}
