//! Derives the health of services and tools from checks, and refuses calls of unhealthy ones.
//!
//! A check gives a finding; the status people see is worked out from findings and switches here and nowhere else, so
//! nobody can set it. What was never checked counts as degraded: it may be tried, with a warning (decision A51).

use serde::{Deserialize, Serialize};

use crate::rule::RuleViolation;

/// How well something works; the later, the worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    Healthy,
    Degraded,
    Down,
}

impl Health {
    pub const ALL: [Self; 3] = [Self::Healthy, Self::Degraded, Self::Down];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Degraded => "degraded",
            Self::Down => "down",
        }
    }
}

/// What is known about one thing: its switch, and the last check's finding if there was one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryHealth {
    pub enabled: bool,
    pub finding: Option<Health>,
}

impl EntryHealth {
    /// BR-SERVICE-003: what is switched off is down, what was never checked is degraded.
    pub fn status(self) -> Health {
        if self.enabled { self.finding.unwrap_or(Health::Degraded) } else { Health::Down }
    }

    /// BR-TOOL-009 and BR-TOOL-010: a tool is as its own check says, and never better than its service.
    pub fn status_on(self, service: Self) -> Health {
        self.status().max(service.status())
    }

    /// Decision A52: what does not fit what it stands on is down, whatever it was found to be before.
    #[must_use]
    pub fn fitting(self, fits: bool) -> Self {
        Self { finding: if fits { self.finding } else { Some(Health::Down) }, ..self }
    }

    /// What is built in has nobody to reach: until a check says otherwise it is as it should be.
    #[must_use]
    pub fn built_in(self, is_built_in: bool) -> Self {
        Self { finding: self.finding.or(is_built_in.then_some(Health::Healthy)), ..self }
    }
}

/// BR-SERVICE-003: how a service is, by what each address it is reached at was found to be. Some tools may go to addresses
/// of their own: one that does not answer makes the service worse, and only all of them make it down.
pub fn of_addresses(found: &[Health]) -> Option<Health> {
    let (best, worst) = (found.iter().min()?, found.iter().max()?);
    Some(if best == worst { *best } else { Health::Degraded })
}

/// BR-TOOL-009: what is known of a tool once its own address was looked at. That somebody answers there does not show that
/// the operation works, so a tool that was down is worth trying again and no more.
pub fn of_tool_reached(before: Option<Health>, address: Health) -> Option<Health> {
    match (address, before) {
        (Health::Down, _) => Some(Health::Down),
        (_, Some(Health::Down)) => Some(Health::Degraded),
        (_, before) => before,
    }
}

/// BR-SERVICE-003: what the answer to one call tells about the service. It shows that one address works; what was found
/// wrong elsewhere is not mended by it.
pub fn of_service_answering(before: Option<Health>, is_its_own_address: bool) -> Health {
    match before {
        Some(Health::Degraded | Health::Down) if !is_its_own_address => Health::Degraded,
        _ => Health::Healthy,
    }
}

/// That a tool may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Callability {
    Yes,
    /// It may, and the caller logs a warning.
    WithWarning,
}

/// BR-TOOL-005 and BR-TOOL-006: whether a new call of a tool may begin.
pub fn check_call(tool: EntryHealth, service: EntryHealth) -> Result<Callability, RuleViolation> {
    let refuse = |rule, problem, remedy| Err(RuleViolation::new(rule, problem, remedy));
    if !tool.enabled {
        return refuse("BR-TOOL-005", "the tool is disabled", "enable it, or use another tool");
    }
    if service.status() == Health::Down {
        return refuse("BR-TOOL-006", "the tool's service is down", "see the service's last check for the cause");
    }
    match tool.status_on(service) {
        Health::Down => refuse("BR-TOOL-006", "the tool is down", "see its last check for the cause"),
        Health::Degraded => Ok(Callability::WithWarning),
        Health::Healthy => Ok(Callability::Yes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: EntryHealth = EntryHealth { enabled: true, finding: None };
    const DISABLED: EntryHealth = EntryHealth { enabled: false, finding: Some(Health::Healthy) };

    fn found(health: Health) -> EntryHealth {
        EntryHealth { enabled: true, finding: Some(health) }
    }

    #[test]
    fn br_service_003_status_is_what_the_check_found_holds() {
        assert_eq!(Health::ALL.map(|health| found(health).status()), Health::ALL);
        assert_eq!(NEW.status(), Health::Degraded);
    }

    #[test]
    fn br_service_003_a_disabled_service_refuses_to_be_healthy() {
        assert_eq!(DISABLED.status(), Health::Down);
    }

    #[test]
    fn br_tool_009_a_tool_may_be_worse_than_its_service_holds() {
        assert_eq!(found(Health::Down).status_on(found(Health::Healthy)), Health::Down);
        assert_eq!(found(Health::Healthy).status_on(found(Health::Healthy)), Health::Healthy);
    }

    #[test]
    fn br_tool_009_a_disabled_tool_refuses_to_be_healthy() {
        assert_eq!(DISABLED.status_on(found(Health::Healthy)), Health::Down);
    }

    #[test]
    fn br_tool_010_a_healthy_service_leaves_the_tool_as_it_is_holds() {
        assert_eq!(Health::ALL.map(|tool| found(tool).status_on(found(Health::Healthy))), Health::ALL);
    }

    #[test]
    fn br_tool_010_a_tool_refuses_to_be_better_than_its_service() {
        for (tool, service) in Health::ALL.iter().flat_map(|tool| Health::ALL.map(|service| (*tool, service))) {
            assert!(found(tool).status_on(found(service)) >= service);
        }
    }

    #[test]
    fn br_service_003_every_address_counts_holds() {
        use Health::{Degraded, Down, Healthy};
        let found = [&[][..], &[Healthy], &[Healthy, Healthy], &[Healthy, Down], &[Degraded, Down], &[Down, Down]];
        let expected = [None, Some(Healthy), Some(Healthy), Some(Degraded), Some(Degraded), Some(Down)];
        assert_eq!(found.map(of_addresses), expected);
    }

    #[test]
    fn br_service_003_an_answer_elsewhere_refuses_to_mend_the_service() {
        assert_eq!(of_service_answering(Some(Health::Down), false), Health::Degraded);
        assert_eq!(of_service_answering(Some(Health::Down), true), Health::Healthy);
        assert_eq!(of_service_answering(None, false), Health::Healthy);
    }

    #[test]
    fn br_tool_009_a_tool_whose_address_answers_keeps_what_its_calls_showed_holds() {
        assert_eq!(of_tool_reached(Some(Health::Healthy), Health::Healthy), Some(Health::Healthy));
        assert_eq!(of_tool_reached(None, Health::Healthy), None);
        assert_eq!(of_tool_reached(Some(Health::Healthy), Health::Down), Some(Health::Down));
    }

    #[test]
    fn br_tool_009_an_address_that_answers_refuses_to_make_a_tool_healthy() {
        assert_eq!(of_tool_reached(Some(Health::Down), Health::Healthy), Some(Health::Degraded));
        assert_eq!(found(Health::Healthy).fitting(false).status_on(found(Health::Healthy)), Health::Down);
    }

    #[test]
    fn what_is_built_in_is_healthy_until_it_is_switched_off_or_found_wanting() {
        assert_eq!(NEW.built_in(true).status(), Health::Healthy);
        assert_eq!(NEW.built_in(false).status(), Health::Degraded);
        assert_eq!(DISABLED.built_in(true).status(), Health::Down);
        assert_eq!(found(Health::Degraded).built_in(true).status(), Health::Degraded);
    }

    #[test]
    fn br_tool_005_an_enabled_tool_is_called_holds() {
        assert_eq!(check_call(found(Health::Healthy), found(Health::Healthy)), Ok(Callability::Yes));
    }

    #[test]
    fn br_tool_005_a_disabled_tool_refuses_new_calls() {
        assert_eq!(check_call(DISABLED, found(Health::Healthy)).unwrap_err().rule(), "BR-TOOL-005");
    }

    #[test]
    fn br_tool_006_degraded_tools_and_services_are_called_with_a_warning_holds() {
        assert_eq!(check_call(NEW, found(Health::Healthy)), Ok(Callability::WithWarning));
        assert_eq!(check_call(found(Health::Healthy), found(Health::Degraded)), Ok(Callability::WithWarning));
    }

    #[test]
    fn br_tool_006_a_tool_or_service_that_is_down_refuses_calls() {
        let refused = |tool, service| check_call(tool, service).unwrap_err().rule();
        assert_eq!(refused(found(Health::Down), found(Health::Healthy)), "BR-TOOL-006");
        assert_eq!(refused(found(Health::Healthy), found(Health::Down)), "BR-TOOL-006");
        assert_eq!(refused(found(Health::Healthy), DISABLED), "BR-TOOL-006");
    }
}
