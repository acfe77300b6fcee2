//! Authorizes a call: whether a user may call a tool now, with which secret, and who pays (rules BR-SHARE-007,
//! BR-EXEC-002).
//!
//! It is judged anew before every call and never remembered: what was shared yesterday may not be shared today.

use crate::id::{RecordId, UserId};
use crate::rule::RuleViolation;

/// Something of the catalog, as far as footing is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnedRef {
    pub id: RecordId,
    pub owner: UserId,
    pub shared: bool,
}

/// What a call stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuthorizationInputs {
    pub executor: UserId,
    pub tool: OwnedRef,
    pub service: OwnedRef,
    /// What the tool's owner bound to it.
    pub tool_secret: Option<OwnedRef>,
    /// What the executor bound to somebody else's tool (decision Z16).
    pub own_secret: Option<OwnedRef>,
    pub requires_secret: bool,
}

/// In whose name a call runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallAuthorization {
    pub executor: UserId,
    pub tool_owner: UserId,
    pub service_owner: UserId,
    /// The secret to use and whose it is.
    pub secret: Option<(RecordId, UserId)>,
    /// The owner of the secret; without one, the executor.
    pub payer: UserId,
}

impl CallAuthorization {
    /// Whether anything used belongs to somebody else.
    pub fn is_across_users(&self) -> bool {
        self.tool_owner != self.executor || self.service_owner != self.executor
    }
}

impl AuthorizationInputs {
    pub fn judge(&self) -> Result<CallAuthorization, RuleViolation> {
        let Self { executor, tool, service, .. } = *self;
        if tool.owner != executor && !tool.shared {
            return refuse("BR-SHARE-007", "the tool is not shared by its owner", "ask its owner to share it");
        }
        if service.owner != tool.owner && !service.shared {
            let remedy = "ask the service's owner to share it, or build the tool on another service";
            return refuse("BR-SHARE-007", "the tool's service is not shared by its owner any more", remedy);
        }
        let secret = self.secret()?;
        let payer = secret.map_or(executor, |(_, owner)| owner);
        Ok(CallAuthorization { executor, tool_owner: tool.owner, service_owner: service.owner, secret, payer })
    }

    /// The executor's own first, else the owner's by delegation; a secret never serves a third person.
    fn secret(&self) -> Result<Option<(RecordId, UserId)>, RuleViolation> {
        let bound = |secret: Option<OwnedRef>, must_be: UserId| match secret {
            Some(secret) if secret.owner != must_be => {
                let remedy = "bind a secret of your own";
                refuse("BR-SHARE-006", "a secret serves only tools of its owner, or its owner's own calls", remedy)
            }
            found => Ok(found.map(|secret| (secret.id, secret.owner))),
        };
        let found = bound(self.own_secret, self.executor)?.or(bound(self.tool_secret, self.tool.owner)?);
        if self.requires_secret && found.is_none() {
            let remedy = "bind a secret to the tool first";
            return refuse("BR-SERVICE-002", "the service requires a secret and the tool has none", remedy);
        }
        Ok(found)
    }
}

fn refuse<T>(rule: &'static str, problem: &str, remedy: &'static str) -> Result<T, RuleViolation> {
    Err(RuleViolation::new(rule, problem, remedy))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANNA: UserId = UserId::from_bytes([1; 16]);
    const BERT: UserId = UserId::from_bytes([2; 16]);
    const CARL: UserId = UserId::from_bytes([3; 16]);

    fn holding(id: u8, owner: UserId, shared: bool) -> OwnedRef {
        OwnedRef { id: RecordId::from_bytes([id; 16]), owner, shared }
    }

    /// Bert calls Anna's shared tool, which stands on Carl's shared service and uses Anna's secret.
    fn chain() -> AuthorizationInputs {
        AuthorizationInputs {
            executor: BERT,
            tool: holding(1, ANNA, true),
            service: holding(2, CARL, true),
            tool_secret: Some(holding(3, ANNA, false)),
            own_secret: None,
            requires_secret: true,
        }
    }

    #[test]
    fn br_share_007_a_shared_tool_on_a_shared_service_holds() {
        let authorization = chain().judge().unwrap();
        assert!(authorization.is_across_users());
        assert_eq!((authorization.executor, authorization.tool_owner, authorization.service_owner), (BERT, ANNA, CARL));
    }

    #[test]
    fn br_share_007_an_unshared_link_of_the_chain_refuses() {
        let refused = |chain: AuthorizationInputs| chain.judge().unwrap_err().rule();
        assert_eq!(refused(AuthorizationInputs { tool: holding(1, ANNA, false), ..chain() }), "BR-SHARE-007");
        assert_eq!(refused(AuthorizationInputs { service: holding(2, CARL, false), ..chain() }), "BR-SHARE-007");
        // A private service is fine below its own owner's tool.
        assert!(AuthorizationInputs { service: holding(2, ANNA, false), ..chain() }.judge().is_ok());
    }

    #[test]
    fn br_exec_002_the_secret_decides_who_pays_holds() {
        assert_eq!(chain().judge().unwrap().payer, ANNA);
        let own = holding(4, BERT, false);
        let authorization = AuthorizationInputs { own_secret: Some(own), ..chain() }.judge().unwrap();
        assert_eq!((authorization.payer, authorization.secret), (BERT, Some((own.id, BERT))));
        let free = AuthorizationInputs { tool_secret: None, requires_secret: false, ..chain() };
        assert_eq!(free.judge().unwrap().payer, BERT);
    }

    #[test]
    fn br_exec_002_a_secret_of_a_third_person_refuses() {
        let foreign = Some(holding(4, CARL, true));
        assert_eq!(AuthorizationInputs { own_secret: foreign, ..chain() }.judge().unwrap_err().rule(), "BR-SHARE-006");
        assert_eq!(AuthorizationInputs { tool_secret: foreign, ..chain() }.judge().unwrap_err().rule(), "BR-SHARE-006");
        assert_eq!(AuthorizationInputs { tool_secret: None, ..chain() }.judge().unwrap_err().rule(), "BR-SERVICE-002");
    }
}
