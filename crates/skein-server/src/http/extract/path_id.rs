//! Takes the id at the end of a path, as the kind of id it should be.

use std::fmt::Display;
use std::str::FromStr;

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;

use crate::http::error::ApiError;

/// The one part of the path that varies.
pub(crate) struct PathId<T>(pub(crate) T);

impl<T, S> FromRequestParts<S> for PathId<T>
where
    T: FromStr<Err: Display> + Send,
    S: Send + Sync,
{
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let invalid = |message: String| ApiError::bad_request("invalid_id", message);
        let path = Path::<String>::from_request_parts(parts, state).await;
        let Path(text) = path.map_err(|rejection| invalid(rejection.body_text()))?;
        text.parse().map(Self).map_err(|bad: T::Err| invalid(bad.to_string()))
    }
}

/// The parts of a path that vary, from the left, each as the kind of id it should be.
pub(crate) struct PathIds<T>(pub(crate) T);

macro_rules! path_ids {
    ($(($($id:ident),+) from ($($text:ident),+);)*) => {$(
        impl<$($id,)+ S> FromRequestParts<S> for PathIds<($($id,)+)>
        where
            $($id: FromStr<Err: Display> + Send,)+
            S: Send + Sync,
        {
            type Rejection = ApiError;

            async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
                let invalid = |message: String| ApiError::bad_request("invalid_id", message);
                let path = Path::<[String; [$(stringify!($id)),+].len()]>::from_request_parts(parts, state).await;
                let Path([$($text),+]) = path.map_err(|rejection| invalid(rejection.body_text()))?;
                Ok(Self(($($text.parse().map_err(|bad: $id::Err| invalid(bad.to_string()))?,)+)))
            }
        }
    )*};
}

path_ids! {
    (A, B) from (first, second);
    (A, B, C) from (first, second, third);
}
