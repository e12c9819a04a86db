//! From a configured target to the target itself.

use std::path::PathBuf;
use std::sync::Arc;

use domain::gate::{Find, Limits};
use domain::time::Clock;

use super::{ByName, Env, secret};
use crate::config::{Action, Config, Consistency, HttpTarget, Problem, SecretRef, Target, TargetKind};
use crate::effects::desk::{Desk, DeskParams};
use crate::effects::http::{FindParams, Http, HttpParams, LookUpParams, ReadParams, WriteParams};
use crate::effects::message::Letter;
use crate::effects::outbox::{self, Outbox, OutboxParams};
use crate::stops::Stops;

/// How many effects are at a target with a `rate` at a time, where it does not say.
const AT_A_SPACED_TARGET: usize = 4;

/// What was made.
pub(super) struct Made {
    /// By name, and by `TARGET/ACTION` where an action has its own message.
    pub(super) targets: ByName<Arc<dyn crate::effects::Target>>,
    /// The first desk, for its records.
    pub(super) desk: Option<Arc<Desk>>,
}

/// Makes every target; what cannot be made is named in `wrong`.
pub(super) fn make(config: &Config, clock: &Arc<dyn Clock>, env: &Env, stops: &Arc<Stops>, wrong: &mut Vec<Problem>) -> Made {
    let mut made = Made { targets: ByName::new(), desk: None };
    for (n, target) in config.targets.iter().enumerate() {
        let mut failed = |why: String| wrong.push(config.problem_below(&format!("target[{n}]"), &why));
        match &target.kind {
            TargetKind::Desk => match desk(config, target, clock, stops) {
                Ok(desk) => {
                    let desk = Arc::new(desk);
                    made.desk.get_or_insert_with(|| Arc::clone(&desk));
                    made.targets.insert(target.name.clone(), desk);
                }
                Err(why) => failed(why),
            },
            TargetKind::Outbox { from } => {
                if let Err(e) = outbox::clear_leftovers(&outbox_root(config, target)) {
                    failed(format!("the outbox cannot be tidied: {e}"));
                }
                for action in config.actions.iter().filter(|action| action.target == target.name) {
                    match Outbox::open(outbox_params(config, target, from, action, clock, stops)) {
                        Ok(outbox) => {
                            let outbox: Arc<dyn crate::effects::Target> = Arc::new(outbox);
                            made.targets.insert(format!("{}/{}", target.name, action.name), Arc::clone(&outbox));
                            made.targets.entry(target.name.clone()).or_insert(outbox);
                        }
                        Err(why) => failed(why),
                    }
                }
            }
            TargetKind::Http(http) => match http_target(target, http, clock, env) {
                Ok(http) => drop(made.targets.insert(target.name.clone(), Arc::new(http))),
                Err(problems) => problems.into_iter().for_each(failed),
            },
        }
    }
    made
}

/// Checks what can be checked without making a file: the templates of `http` targets and of messages, and their secrets.
pub(super) fn check(config: &Config, clock: &Arc<dyn Clock>, env: &Env, wrong: &mut Vec<Problem>) {
    for (n, target) in config.targets.iter().enumerate() {
        if let TargetKind::Http(http) = &target.kind
            && let Err(problems) = http_target(target, http, clock, env)
        {
            wrong.extend(problems.iter().map(|why| config.problem_below(&format!("target[{n}]"), why)));
        }
    }
    for (n, action) in config.actions.iter().enumerate() {
        let target = config.target(&action.target);
        if let Some(TargetKind::Outbox { from }) = target.map(|target| &target.kind) {
            let (subject, text) = (action.subject.as_deref().unwrap_or_default(), action.text.as_deref().unwrap_or_default());
            if let Err(why) = Letter::compile(from, subject, text) {
                wrong.push(config.problem_below(&format!("action[{n}]"), &why));
            }
        }
    }
}

fn desk(config: &Config, target: &Target, clock: &Arc<dyn Clock>, stops: &Arc<Stops>) -> Result<Desk, String> {
    let path = config.server.data_dir.join(format!("{}.desk.db", target.name));
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    }
    Desk::open(DeskParams { path, clock: Arc::clone(clock), stops: Arc::clone(stops) })
}

fn outbox_root(config: &Config, target: &Target) -> PathBuf {
    config.server.data_dir.join(format!("{}.outbox", target.name))
}

fn outbox_params(
    config: &Config,
    target: &Target,
    from: &str,
    action: &Action,
    clock: &Arc<dyn Clock>,
    stops: &Arc<Stops>,
) -> OutboxParams {
    OutboxParams {
        root: outbox_root(config, target),
        from: from.to_owned(),
        subject: action.subject.clone().unwrap_or_default(),
        text: action.text.clone().unwrap_or_default(),
        clock: Arc::clone(clock),
        stops: Arc::clone(stops),
    }
}

/// An `http` target whose templates read well and whose headers can be rendered: a secret that is not set stops the start.
fn http_target(target: &Target, http: &HttpTarget, clock: &Arc<dyn Clock>, env: &Env) -> Result<Http, Vec<String>> {
    let made = Http::new(http_params(target, http, clock, env)).map_err(|why| vec![why])?;
    made.check()?;
    Ok(made)
}

fn http_params(target: &Target, http: &HttpTarget, clock: &Arc<dyn Clock>, env: &Env) -> HttpParams {
    let env = Arc::clone(env);
    let secrets = move |reference: &str| {
        let reference: SecretRef = reference.parse().map_err(str::to_owned)?;
        Ok(secret(&reference, &*env)?.expose().to_owned())
    };
    HttpParams {
        timeout_ms: target.timeout.ms(),
        settle_ms: target.settle.ms(),
        limits: limits(target),
        headers: http.headers.iter().cloned().collect(),
        write: WriteParams {
            method: http.write.method.to_string(),
            url: http.write.url.clone(),
            body: http.write.body.clone().unwrap_or_default(),
            content_type: http.write.content_type.clone(),
            id: http.write.id.clone(),
            ok: http.write.ok.iter().cloned().collect(),
        },
        find: http.find.as_ref().map(find_params),
        read: http.read.as_ref().map(|read| ReadParams {
            method: read.method.to_string(),
            url: read.url.clone(),
            key: read.key.clone(),
            expect: read.expect.iter().cloned().collect(),
        }),
        not_executed: target.not_executed.clone(),
        clock: Arc::clone(clock),
        secrets: Arc::new(secrets),
    }
}

/// A target whose calls are spaced needs few at it: more would only wait there.
fn limits(target: &Target) -> Limits {
    let spacing_ms = target.rate.map_or(0, crate::config::Allowance::spacing_ms);
    Limits { concurrency: target.concurrency.or((spacing_ms > 0).then_some(AT_A_SPACED_TARGET)), spacing_ms }
}

fn find_params(find: &crate::config::Find) -> FindParams {
    let looks = find.look_up.is_some();
    FindParams {
        consistency: match find.consistency {
            Consistency::Strong => Find::Strong,
            Consistency::Lagging(max) => Find::Lagging { max_ms: max.ms() },
            Consistency::Unique => Find::Unique,
            Consistency::Upsert => Find::Upsert { looks },
            Consistency::Window(kept) => Find::Window { window_ms: kept.ms(), looks },
        },
        look_up: find.look_up.as_ref().map(|look_up| LookUpParams {
            method: look_up.method.to_string(),
            url: look_up.url.clone(),
            body: None,
            records: look_up.records.clone(),
            id: look_up.id.clone(),
            key: look_up.key.clone(),
            next: look_up.next.clone(),
        }),
    }
}
