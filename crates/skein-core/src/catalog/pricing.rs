//! Computes the cost of a call from the prices that the owner of the tool entered.
//! No price is built in: providers change their prices, and a wrong price is worse than none.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use crate::flow::cost::Amount;

/// Prices are kept to this part of a unit of their currency.
const PARTS_PER_UNIT: f64 = 1e6;
/// The highest price, in units of its currency.
const PRICE_MAX: f64 = 1e6;

/// The prices of a tool. What is not given is not known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", try_from = "PricingDraft")]
pub struct Pricing {
    pub currency: Currency,
    /// For a million tokens that the provider reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_per_million: Option<Price>,
    /// For a million of those that the provider had kept from earlier; without it, they cost what others do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input_per_million: Option<Price>,
    /// For a million tokens that the model writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_per_million: Option<Price>,
    /// For each call that is answered, besides its tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_call: Option<Price>,
}

impl Pricing {
    /// Whether any price is one of tokens.
    pub fn is_of_tokens(&self) -> bool {
        self.input_per_million.or(self.cached_input_per_million).or(self.output_per_million).is_some()
    }
}

/// Prices as they are written down.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PricingDraft {
    currency: Currency,
    input_per_million: Option<Price>,
    cached_input_per_million: Option<Price>,
    output_per_million: Option<Price>,
    per_call: Option<Price>,
}

impl TryFrom<PricingDraft> for Pricing {
    type Error = &'static str;

    fn try_from(draft: PricingDraft) -> Result<Self, &'static str> {
        let PricingDraft { currency, input_per_million, cached_input_per_million, output_per_million, per_call } =
            draft;
        if input_per_million.or(output_per_million).or(per_call).is_none() {
            return Err("a pricing names inputPerMillion, outputPerMillion or perCall");
        }
        Ok(Self { currency, input_per_million, cached_input_per_million, output_per_million, per_call })
    }
}

/// A currency by its three letters, such as `USD`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Currency([u8; 3]);

impl Currency {
    pub fn as_str(&self) -> &str {
        str::from_utf8(&self.0).expect("it is made of letters")
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Currency> for String {
    fn from(currency: Currency) -> Self {
        currency.as_str().to_owned()
    }
}

impl TryFrom<String> for Currency {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        let letters = <[u8; 3]>::try_from(text.as_bytes()).ok().filter(|text| text.iter().all(u8::is_ascii_uppercase));
        letters.map(Self).ok_or("a currency is three capital letters, such as USD")
    }
}

/// What something costs, in millionths of a unit of its currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Number", try_from = "f64")]
pub struct Price(u64);

impl From<Price> for Number {
    #[expect(clippy::cast_precision_loss, reason = "prices are bounded far below 2^52")]
    fn from(Price(parts): Price) -> Self {
        if parts % 1_000_000 == 0 {
            return Self::from(parts / 1_000_000);
        }
        Self::from_f64(parts as f64 / PARTS_PER_UNIT).expect("a price is finite")
    }
}

impl TryFrom<f64> for Price {
    type Error = &'static str;

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "its range is looked at before")]
    fn try_from(price: f64) -> Result<Self, &'static str> {
        if !(0.0..=PRICE_MAX).contains(&price) {
            return Err("a price is a number from 0 to 1000000");
        }
        let parts = (price * PARTS_PER_UNIT).round();
        if (price * PARTS_PER_UNIT - parts).abs() > 1e-3 {
            return Err("a price has six decimals at most");
        }
        Ok(Self(parts as u64))
    }
}

impl Price {
    /// Of so many tokens, where this is the price of a million.
    fn of_tokens(self, tokens: u64) -> Amount {
        Amount::from_parts(u128::from(self.0) * u128::from(tokens))
    }

    fn of_one(self) -> Amount {
        Amount::from_parts(u128::from(self.0) * 1_000_000)
    }
}

impl Pricing {
    /// What a call cost by the usage that its provider reported; nothing where that cannot be known. Tokens that nobody
    /// counted, or that have no price, leave it unknown: a guess would read like a bill.
    pub fn cost(&self, is_answered: bool, usage: Option<&Value>) -> Option<Amount> {
        let per_call = match self.per_call {
            Some(_) if !is_answered => return None,
            price => price.map(Price::of_one).unwrap_or_default(),
        };
        let is_by_call = self.input_per_million.or(self.output_per_million).is_none();
        if is_by_call {
            return Some(per_call);
        }
        let usage = usage.filter(|usage| usage["isEstimate"] != true)?;
        let tokens = |name: &str| usage[name].as_u64();
        let (input, output) = (tokens("inputTokens")?, tokens("outputTokens")?);
        let cached = tokens("cachedInputTokens").unwrap_or_default().min(input);
        let cached_price = self.cached_input_per_million.or(self.input_per_million);
        let priced = |tokens: u64, price: Option<Price>| match price {
            Some(price) => Some(price.of_tokens(tokens)),
            None => (tokens == 0).then(Amount::default),
        };
        let parts = [
            priced(input - cached, self.input_per_million)?,
            priced(cached, cached_price)?,
            priced(output, self.output_per_million)?,
        ];
        Some(parts.into_iter().fold(per_call, Amount::plus))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pricing(value: Value) -> Result<Pricing, String> {
        serde_json::from_value(value).map_err(|error| error.to_string())
    }

    fn cost(prices: Value, usage: &Value) -> Option<String> {
        let usage = Some(usage).filter(|usage| !usage.is_null());
        pricing(prices).unwrap().cost(true, usage).map(|amount| amount.to_string())
    }

    fn used(input: u64, cached: u64, output: u64) -> Value {
        json!({ "inputTokens": input, "outputTokens": output, "cachedInputTokens": cached, "isEstimate": false })
    }

    #[test]
    fn prices_are_read_and_written_alike() {
        let written =
            json!({ "currency": "EUR", "inputPerMillion": 0.15, "outputPerMillion": 3, "perCall": 0.000_001 });
        assert_eq!(serde_json::to_value(pricing(written.clone()).unwrap()).unwrap(), written);
    }

    #[test]
    fn what_is_no_price_is_refused() {
        for (bad, why) in [
            (json!({ "currency": "usd", "perCall": 1 }), "capital letters"),
            (json!({ "currency": "USD" }), "names inputPerMillion"),
            (json!({ "currency": "USD", "cachedInputPerMillion": 1 }), "names inputPerMillion"),
            (json!({ "currency": "USD", "perCall": -1 }), "from 0 to"),
            (json!({ "currency": "USD", "perCall": 2e6 }), "from 0 to"),
            (json!({ "currency": "USD", "perCall": 0.000_000_1 }), "six decimals"),
            (json!({ "currency": "USD", "perCall": "1" }), "expected f64"),
            (json!({ "currency": "USD", "perHour": 1 }), "unknown field"),
        ] {
            let refused = pricing(bad.clone()).unwrap_err();
            assert!(refused.contains(why), "{bad}: {refused}");
        }
    }

    #[test]
    fn br_share_008_a_call_costs_what_its_tokens_and_it_itself_do_holds() {
        let prices = json!({ "currency": "USD", "inputPerMillion": 2.5, "outputPerMillion": 10 });
        assert_eq!(cost(prices.clone(), &used(1_000, 0, 200)).as_deref(), Some("0.0045"));
        assert_eq!(cost(prices.clone(), &used(1, 0, 0)).as_deref(), Some("0.0000025"));
        // What was kept from earlier costs what other input does, unless it has a price of its own.
        assert_eq!(cost(prices.clone(), &used(1_000, 600, 0)).as_deref(), Some("0.0025"));
        let mut cached = prices;
        cached["cachedInputPerMillion"] = json!(0.5);
        cached["perCall"] = json!(0.01);
        assert_eq!(cost(cached, &used(1_000, 600, 0)).as_deref(), Some("0.0113"));
        assert_eq!(cost(json!({ "currency": "USD", "perCall": 0.25 }), &Value::Null).as_deref(), Some("0.25"));
        assert_eq!(cost(json!({ "currency": "USD", "perCall": 0.25 }), &used(9, 0, 9)).as_deref(), Some("0.25"));
        assert_eq!(cost(json!({ "currency": "USD", "perCall": 0 }), &Value::Null).as_deref(), Some("0"));
    }

    #[test]
    fn br_share_008_what_cannot_be_known_is_unknown_and_not_free_refuses() {
        let prices = json!({ "currency": "USD", "inputPerMillion": 2.5, "outputPerMillion": 10 });
        assert_eq!(cost(prices.clone(), &Value::Null), None, "nobody counted");
        assert_eq!(cost(prices.clone(), &json!({ "inputTokens": 5 })), None, "half of it was counted");
        let mut guessed = used(1_000, 0, 200);
        guessed["isEstimate"] = json!(true);
        assert_eq!(cost(prices, &guessed), None, "the provider did not say");
        let half = json!({ "currency": "USD", "inputPerMillion": 2.5 });
        assert_eq!(cost(half.clone(), &used(10, 0, 10)), None, "the output has no price");
        assert!(cost(half, &used(10, 0, 0)).is_some());
        let by_call = pricing(json!({ "currency": "USD", "perCall": 0.25 })).unwrap();
        assert_eq!(by_call.cost(false, None), None, "it was not answered");
    }
}
