//! The Standard Webhooks scheme: HMAC-SHA256 over `{id}.{timestamp}.{raw body}`.
//!
//! Its `webhook-id` stays the same over all attempts of one message; its timestamp is that of the attempt, and checked
//! against the caller's clock (the published libraries read the system's, which a test could not move).

use domain::identity::Headers;
use domain::time::UtcMs;
use subtle::{Choice, ConstantTimeEq as _};

use super::{NotAuthentic, Secret, base64, hmac_sha256, one, usable};

/// How far the attempt's time may be from ours, either way: what the published libraries allow.
const TOLERANCE_MS: i64 = 5 * 60 * 1000;

/// The scheme's header names, and those of the service it came from.
const NAMES: [&str; 2] = ["webhook", "svix"];

/// Whether there is a signature of a form that is checked.
pub(super) fn fits_head(headers: &Headers) -> bool {
    let sent = |family| one(headers, &format!("{family}-signature")).is_ok_and(|list| !versions_one(list).is_empty());
    NAMES.into_iter().any(sent)
}

pub(super) fn verify(headers: &Headers, body: &[u8], now: UtcMs, secrets: &[Secret]) -> Result<(), NotAuthentic> {
    let family = NAMES.into_iter().find(|family| headers.iter().any(|(name, _)| *name == format!("{family}-signature")));
    let family = family.unwrap_or(NAMES[0]);
    let [id_name, time_name, signature_name] = ["id", "timestamp", "signature"].map(|part| format!("{family}-{part}"));
    let (id, time, signatures) = (one(headers, &id_name)?, one(headers, &time_name)?, one(headers, &signature_name)?);
    if id.is_empty() {
        return Err(NotAuthentic::Malformed(id_name));
    }
    let Ok(attempted_s) = time.parse::<i64>() else { return Err(NotAuthentic::Malformed(time_name)) };
    let sent = versions_one(signatures);
    if sent.is_empty() {
        return Err(NotAuthentic::Malformed(signature_name));
    }
    let keys: Vec<Vec<u8>> = usable(secrets)?.into_iter().filter_map(key).collect();
    if keys.is_empty() {
        return Err(NotAuthentic::NoSecret);
    }
    let mut fits = Choice::from(0);
    for key in &keys {
        let expected = hmac_sha256(key, &[id.as_bytes(), b".", time.as_bytes(), b".", body]);
        for signature in &sent {
            fits |= expected.as_slice().ct_eq(signature);
        }
    }
    if !bool::from(fits) {
        return Err(NotAuthentic::Mismatch(signature_name));
    }
    // Last, so that whoever releases a late retry knows that only the time was wrong.
    let distance_ms = now.since(UtcMs(attempted_s.saturating_mul(1000))).saturating_abs();
    if distance_ms > TOLERANCE_MS { Err(NotAuthentic::Stale(time_name)) } else { Ok(()) }
}

/// The signatures of version `v1` in the space-separated list; other versions are passed over, cut ones are none.
fn versions_one(list: &str) -> Vec<Vec<u8>> {
    list.split(' ').filter_map(|entry| entry.strip_prefix("v1,")).filter_map(base64).filter(|bytes| bytes.len() == 32).collect()
}

/// The key that a secret's text stands for; an empty one is none.
fn key(secret: &Secret) -> Option<Vec<u8>> {
    let text = secret.0.trim();
    base64(text.strip_prefix("whsec_").unwrap_or(text)).filter(|key| !key.is_empty())
}
