//! Money: what a call cost, and what is owed for many of them, by whom and in which currency.
//!
//! Amounts are whole numbers of a millionth of a millionth, so that sums are exact; outside they are decimal texts. What is
//! not known is nothing at all, never zero.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::catalog::pricing::Currency;
use crate::id::UserId;

const PARTS_PER_UNIT: u128 = 1_000_000_000_000;
const DECIMALS: usize = 12;

/// An amount of some currency.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Amount(u128);

impl Amount {
    pub fn from_parts(parts: u128) -> Self {
        Self(parts)
    }

    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// As a number, for charts.
    #[expect(clippy::cast_precision_loss, reason = "a chart shows a few digits")]
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / PARTS_PER_UNIT as f64
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (units, parts) = (self.0 / PARTS_PER_UNIT, self.0 % PARTS_PER_UNIT);
        if parts == 0 {
            return write!(f, "{units}");
        }
        write!(f, "{units}.{}", format!("{parts:0DECIMALS$}").trim_end_matches('0'))
    }
}

impl fmt::Debug for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Amount> for String {
    fn from(amount: Amount) -> Self {
        amount.to_string()
    }
}

impl TryFrom<String> for Amount {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        let bad = "an amount is a decimal number with twelve decimals at most";
        let (units, parts) = text.split_once('.').unwrap_or((text.as_str(), "0"));
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(units) || !is_number(parts) || parts.len() > DECIMALS {
            return Err(bad);
        }
        let units: u128 = units.parse().map_err(|_| bad)?;
        let parts: u128 = format!("{parts:0<DECIMALS$}").parse().map_err(|_| bad)?;
        units.checked_mul(PARTS_PER_UNIT).and_then(|units| units.checked_add(parts)).map(Self).ok_or(bad)
    }
}

/// What something cost, and who pays: the owner of the secret that was used (rule BR-SHARE-008).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cost {
    pub payer_id: UserId,
    pub currency: Currency,
    pub amount: Amount,
}

/// What is owed, for each payer and currency together.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(into = "Vec<Cost>", from = "Vec<Cost>")]
pub struct CostTotals(BTreeMap<(UserId, Currency), Amount>);

impl CostTotals {
    pub fn add(&mut self, cost: Cost) {
        let amount = self.0.entry((cost.payer_id, cost.currency)).or_default();
        *amount = amount.plus(cost.amount);
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn costs(&self) -> impl Iterator<Item = Cost> {
        self.0.iter().map(|((payer_id, currency), amount)| Cost {
            payer_id: *payer_id,
            currency: *currency,
            amount: *amount,
        })
    }
}

impl Extend<Cost> for CostTotals {
    fn extend<T: IntoIterator<Item = Cost>>(&mut self, costs: T) {
        costs.into_iter().for_each(|cost| self.add(cost));
    }
}

impl From<CostTotals> for Vec<Cost> {
    fn from(owed: CostTotals) -> Self {
        owed.costs().collect()
    }
}

impl From<Vec<Cost>> for CostTotals {
    fn from(costs: Vec<Cost>) -> Self {
        let mut owed = Self::default();
        owed.extend(costs);
        owed
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ANNA: UserId = UserId::from_bytes([1; 16]);
    const BERT: UserId = UserId::from_bytes([2; 16]);

    fn amount(text: &str) -> Result<Amount, &'static str> {
        text.to_owned().try_into()
    }

    fn cost(payer_id: UserId, currency: &str, text: &str) -> Cost {
        Cost { payer_id, currency: currency.to_owned().try_into().unwrap(), amount: amount(text).unwrap() }
    }

    #[test]
    fn amounts_are_spelled_as_they_are_read() {
        for text in ["0", "1", "0.1", "0.000000000001", "1234.5", "10"] {
            assert_eq!(amount(text).unwrap().to_string(), text);
        }
        assert_eq!(amount("0.10").unwrap().to_string(), "0.1");
        for bad in ["", ".", "1.", ".5", "-1", "+1", "1e3", "1,5", "0.0000000000001", "99999999999999999999999999999"] {
            assert!(amount(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn br_share_008_what_is_owed_is_summed_by_payer_and_currency_holds() {
        let mut owed = CostTotals::default();
        owed.extend([cost(BERT, "USD", "0.1"), cost(ANNA, "USD", "0.2"), cost(ANNA, "EUR", "1")]);
        // Binary fractions would not give 0.3.
        owed.add(cost(ANNA, "USD", "0.1"));
        let told = json!([
            { "payerId": ANNA, "currency": "EUR", "amount": "1" },
            { "payerId": ANNA, "currency": "USD", "amount": "0.3" },
            { "payerId": BERT, "currency": "USD", "amount": "0.1" },
        ]);
        assert_eq!(serde_json::to_value(&owed).unwrap(), told);
        assert_eq!(serde_json::from_value::<CostTotals>(told).unwrap(), owed);
    }
}
