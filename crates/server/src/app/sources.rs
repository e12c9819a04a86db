//! From a configured source to what intake takes.

use super::{ByName, secret};
use crate::config::{Auth, Config, Problem, SecretRef, SignatureEncoding, Source, Then};
use crate::intake::{self, Encoding, Secret, SourceSetup};

type Ask<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Every source by the name it is reached under. Secrets that cannot be fetched are named in `wrong`.
pub(super) fn setups(config: &Config, env: Ask<'_>, wrong: &mut Vec<Problem>) -> ByName<SourceSetup> {
    let body_max = config.server.body_max.bytes();
    let mut setups = ByName::new();
    for (n, source) in config.sources.iter().enumerate() {
        let mut own = Vec::new();
        setups.insert(source.name.clone(), setup(source, body_max, env, &mut own));
        wrong.extend(own.into_iter().map(|why| config.problem(&format!("source[{n}].auth"), why)));
    }
    setups
}

fn setup(source: &Source, body_max: usize, env: Ask<'_>, wrong: &mut Vec<String>) -> SourceSetup {
    SourceSetup {
        id: source.id.clone(),
        client: source.client.clone(),
        auth: auth(source, env, wrong),
        rule: source.rule(),
        earlier: Vec::new(),
        channel: source.channel.clone(),
        map: source.map.clone(),
        items: source.items.clone(),
        test: source.test.clone(),
        request_id: source.request_id.clone(),
        attempt: source.attempt.clone(),
        content_window_ms: source.identity.content_window.ms(),
        look_alike_window_ms: source.look_alike.window.ms(),
        hold_look_alikes: source.look_alike.then == Then::Hold,
        body_max,
    }
}

fn auth(source: &Source, env: Ask<'_>, wrong: &mut Vec<String>) -> intake::Auth {
    let mut fetch = |refs: &[SecretRef]| -> Vec<Secret> {
        let fetched = refs.iter().map(|r| secret(r, env));
        fetched.filter_map(|f| f.map_err(|why| wrong.push(why)).ok()).map(|s| Secret::new(s.expose())).collect()
    };
    match &source.auth {
        Auth::None { .. } => intake::Auth::None,
        Auth::Bearer { header, prefix, secrets } => {
            intake::Auth::Bearer { header: header.clone(), prefix: prefix.clone(), secrets: fetch(secrets) }
        }
        Auth::Basic { user, passwords } => intake::Auth::Basic { user: user.clone(), passwords: fetch(passwords) },
        Auth::HmacSha256 { header, prefix, encoding, secrets } => intake::Auth::HmacSha256 {
            header: header.clone(),
            prefix: prefix.clone(),
            encoding: match encoding {
                SignatureEncoding::Either => Encoding::Either,
                SignatureEncoding::Hex => Encoding::Hex,
                SignatureEncoding::Base64 => Encoding::Base64,
            },
            secrets: fetch(secrets),
        },
        Auth::StandardWebhooks { secrets } => intake::Auth::StandardWebhooks { secrets: fetch(secrets) },
    }
}
