//! Renews a token once for everybody who finds it ended at the same time.
//!
//! A refresh token is often good for one exchange, so two calls must not both make it. The exchange runs as a task
//! of its own: a caller who gives up in the middle does not lose the new token for the others. It is kept for a
//! while for calls that opened the old value before the new one was stored.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::{BoxFuture, Shared};
use tokio::time::Instant;

use super::{Http, request};
use crate::credential::{Credential, OnRenewal, Renewal, TokenGrant};
use crate::http::CallFault;

const RENEWED_KEPT: Duration = Duration::from_mins(1);

type RenewalOutcome = Result<Arc<TokenGrant>, CallFault>;

#[derive(Default)]
pub(super) struct Renewals(Mutex<HashMap<[u8; 32], Shared<BoxFuture<'static, RenewalOutcome>>>>);

impl Renewals {
    fn forget(&self, key: [u8; 32]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
    }
}

impl Http {
    /// Gives the credential a new token, made now or by somebody else a moment ago.
    pub(super) async fn renew(&self, credential: &Credential, renewal: Renewal) -> Result<(), CallFault> {
        let (outcome, is_ours) = self.renewing(renewal, credential.keeper());
        let token = outcome.await?;
        credential.use_renewed(&token);
        if !is_ours {
            keep(credential.keeper(), &token).await;
        }
        Ok(())
    }

    /// What comes of the renewal, and whether it begins with this and its keeper is told by it.
    fn renewing(
        &self,
        renewal: Renewal,
        keeper: Option<OnRenewal>,
    ) -> (Shared<BoxFuture<'static, RenewalOutcome>>, bool) {
        let key = renewal.key();
        let mut renewals = self.0.renewals.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(renewing) = renewals.get(&key) {
            return (renewing.clone(), false);
        }
        let task = tokio::spawn(renewed(self.clone(), renewal, keeper, key));
        let gone = |_| Err(CallFault::Request("the renewal of the token was broken off".to_owned()));
        let renewing = task.map(move |outcome| outcome.unwrap_or_else(gone)).boxed().shared();
        renewals.insert(key, renewing.clone());
        (renewing, true)
    }

    async fn exchange(&self, renewal: &Renewal) -> RenewalOutcome {
        let mut refused = CallFault::Request("the token cannot be renewed".to_owned());
        for proof in renewal.proofs() {
            let call = renewal.request(*proof)?;
            let answer = self.ask_once(&call, Instant::now() + call.limits.total).await?;
            let status = answer.status;
            match renewal.read(status, &answer.body.whole().await?) {
                Ok(token) => return Ok(Arc::new(token)),
                Err(cause) => {
                    refused = CallFault::Credential { host: request::endpoint(&call.url)?.to_string(), cause }
                }
            }
            if !status.is_client_error() {
                break;
            }
        }
        Err(refused)
    }
}

async fn renewed(http: Http, renewal: Renewal, keeper: Option<OnRenewal>, key: [u8; 32]) -> RenewalOutcome {
    let outcome = http.exchange(&renewal).await;
    if let Ok(token) = &outcome {
        keep(keeper, token).await;
    }
    let shared = Arc::downgrade(&http.0);
    let forget = move || Weak::upgrade(&shared).inspect(|shared| shared.renewals.forget(key));
    if outcome.is_err() {
        // The next call may try again; those who waited have their answer.
        forget();
    } else {
        tokio::spawn(async move {
            tokio::time::sleep(RENEWED_KEPT).await;
            forget();
        });
    }
    outcome
}

/// A task of its own: neither a caller who gives up nor a keeper that panics costs the others the token.
async fn keep(keeper: Option<OnRenewal>, token: &TokenGrant) {
    let Some(keeper) = keeper else { return };
    let value = token.to_bytes();
    if let Err(error) = tokio::spawn(async move { keeper(value).await }).await {
        tracing::error!(%error, "a renewed token may not have been kept");
    }
}
