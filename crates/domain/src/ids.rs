//! The names that records carry: short texts with a prefix that says what they name.
//!
//! Ids of things with an identity (an enquiry, an effect) are derived from it, so every node gives the same one;
//! ids of happenings (a delivery, a run) are drawn: time first, so that they sort, then chance.

use data_encoding::BASE32_DNSSEC;
use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::time::{Entropy, UtcMs};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// What every id of this kind begins with.
            pub const PREFIX: &str = $prefix;

            /// Takes a text as the id it claims to be; `None` if the prefix is another's.
            pub fn parse(text: &str) -> Option<Self> {
                text.starts_with($prefix).then(|| Self(text.to_owned()))
            }

            /// The id that belongs to an identity's digest: the same on every node, for good.
            pub fn of(digest: &Digest) -> Self {
                Self(format!("{}{}", $prefix, BASE32_DNSSEC.encode(&digest.as_bytes()[..15])))
            }

            /// A new id: 48 bits of milliseconds, then 72 bits of chance. Sorts by time.
            pub fn draw(now: UtcMs, entropy: &dyn Entropy) -> Self {
                Self(format!("{}{}", $prefix, drawn(now, entropy)))
            }

            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

id!(
    /// One piece of requested work. Derived from its key.
    EnquiryId,
    "enq_"
);
id!(
    /// One arrival at our door.
    DeliveryId,
    "dlv_"
);
id!(
    /// One processing of an enquiry.
    RunId,
    "run_"
);
id!(
    /// One action of one enquiry. Derived from (key, action, ordinal).
    EffectId,
    "eff_"
);
id!(
    /// One item of a person's queue.
    ReviewId,
    "rev_"
);
id!(
    /// One process start, and the chain of journal entries it wrote.
    StreamId,
    "str_"
);
id!(
    /// One claim at the gate.
    ClaimId,
    "clm_"
);

fn drawn(now: UtcMs, entropy: &dyn Entropy) -> String {
    let mut bytes = [0_u8; 15];
    bytes[..6].copy_from_slice(&now.0.to_be_bytes()[2..]);
    entropy.fill(&mut bytes[6..]);
    BASE32_DNSSEC.encode(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::SeededEntropy;

    #[test]
    fn drawn_ids_sort_by_time_and_differ() {
        let entropy = SeededEntropy::new(1);
        let early = DeliveryId::draw(UtcMs(1_000), &entropy);
        let late = DeliveryId::draw(UtcMs(1_001), &entropy);
        assert!(early < late);
        assert_ne!(late, DeliveryId::draw(UtcMs(1_001), &entropy));
    }

    #[test]
    fn an_id_of_another_kind_is_not_taken() {
        assert_eq!(EnquiryId::parse("dlv_x"), None);
        assert!(EnquiryId::parse("enq_x").is_some());
    }
}
