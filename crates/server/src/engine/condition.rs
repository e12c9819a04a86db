//! `when`: conditions in CEL, compiled and evaluated on a thread of their own.
//!
//! A CEL expression can overflow a worker's stack, and an overflow ends the process: parsing recurses on nesting and on long
//! sums. So the source is capped, compiled when the configuration is loaded, and both happen on one thread with a stack that
//! is large enough for anything under the cap (docs/adr/0005).

use std::sync::mpsc;

use cel::common::ast::{EntryExpr, Expr, MapExpr, StructExpr};
use cel::{Context, ExecutionError, IdedExpr, Program, Value as CelValue};
use serde_json::Value;
use tokio::sync::oneshot;

use crate::effects::names::slip;

/// The longest source, in bytes.
const SOURCE_MAX: usize = 1024;
/// Reserved, not used: an expression under the cap stays far below it.
const STACK: usize = 64 << 20;

/// A condition that cannot be used, with the action's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Miswritten {
    /// The action.
    pub action: String,
    /// What is wrong.
    pub why: String,
}

/// What a condition sees.
const NAMES: [&str; 4] = ["key", "action", "enquiry", "qualification"];
/// How many walks over lists and maps a condition may have.
const WALKS_MAX: usize = 2;

struct Question {
    action: String,
    scene: Value,
    answer: oneshot::Sender<Result<bool, String>>,
}

/// The way to the thread.
#[derive(Clone)]
pub struct Conditions {
    ask: mpsc::Sender<Question>,
}

impl Conditions {
    /// Compiles every (action, source) and starts the thread. All that are miswritten are named.
    pub fn compile(sources: Vec<(String, String)>) -> Result<Self, Vec<Miswritten>> {
        let (ask, asked) = mpsc::channel::<Question>();
        let (ready, compiled) = mpsc::channel();
        let thread = std::thread::Builder::new().name("conditions".to_owned()).stack_size(STACK);
        let spawned = thread.spawn(move || {
            let (programs, wrong) = compile_all(sources);
            let go_on = wrong.is_empty();
            if ready.send(wrong).is_ok() && go_on {
                serve(&programs, &asked);
            }
        });
        let failed = |why: String| vec![Miswritten { action: String::new(), why }];
        spawned.map_err(|e| failed(format!("the thread for conditions cannot start: {e}")))?;
        let wrong = compiled.recv().map_err(|_| failed("the thread for conditions stopped".to_owned()))?;
        if wrong.is_empty() { Ok(Self { ask }) } else { Err(wrong) }
    }

    /// Evaluates the action's condition on a scene. `Err`: it gave no true or false, and why, without values.
    pub async fn holds(&self, action: &str, scene: &Value) -> Result<bool, String> {
        let (answer, answered) = oneshot::channel();
        let question = Question { action: action.to_owned(), scene: scene.clone(), answer };
        self.ask.send(question).map_err(|_| "the thread for conditions stopped".to_owned())?;
        answered.await.unwrap_or_else(|_| Err("the thread for conditions stopped".to_owned()))
    }
}

fn compile_all(sources: Vec<(String, String)>) -> (Vec<(String, Program)>, Vec<Miswritten>) {
    let (mut programs, mut wrong) = (Vec::new(), Vec::new());
    for (action, source) in sources {
        if source.len() > SOURCE_MAX {
            wrong.push(Miswritten { action, why: format!("a condition has at most {SOURCE_MAX} bytes") });
            continue;
        }
        match Program::compile(&source) {
            Ok(program) => match unsuited(&program) {
                None => programs.push((action, program)),
                Some(why) => wrong.push(Miswritten { action, why }),
            },
            Err(e) => wrong.push(Miswritten { action, why: format!("not an expression that CEL reads: {e}") }),
        }
    }
    (programs, wrong)
}

/// Why an expression that reads well is not taken: a name that will never be there, or walks over lists inside walks over
/// lists, which a few bytes can make take for ever, and there is one thread for all.
fn unsuited(program: &Program) -> Option<String> {
    let mut seen = Seen::default();
    seen.look_at(program.expression());
    if seen.walks > WALKS_MAX {
        return Some(format!("it walks over lists {} times: {WALKS_MAX} are the most", seen.walks));
    }
    let is_known = |path: &str| path.split('.').next().is_some_and(|root| NAMES.contains(&root));
    let wrong = |path: &String| {
        if is_known(path) { slip(path) } else { Some(format!("it names '{path}': a condition sees {}", NAMES.join(", "))) }
    };
    seen.names.iter().find_map(wrong)
}

/// What stands in an expression.
#[derive(Default)]
struct Seen<'a> {
    /// Every name, with what is selected from it (`enquiry.contact.email`), but for those that a walk brings.
    names: Vec<String>,
    /// Walks over lists and maps: `all`, `exists`, `map`, … become these.
    walks: usize,
    /// The names of the walks that we are in.
    own: Vec<&'a str>,
}

impl<'a> Seen<'a> {
    fn look_at(&mut self, expression: &'a IdedExpr) {
        if let Some((root, path)) = dotted(expression) {
            if !self.own.contains(&root) {
                self.names.push(path);
            }
            return;
        }
        match &expression.expr {
            Expr::Select(select) => self.look_at(&select.operand),
            Expr::Call(call) => call.target.as_deref().into_iter().chain(&call.args).for_each(|part| self.look_at(part)),
            Expr::List(list) => list.elements.iter().for_each(|part| self.look_at(part)),
            Expr::Map(MapExpr { entries }) | Expr::Struct(StructExpr { entries, .. }) => {
                for entry in entries {
                    match &entry.expr {
                        EntryExpr::MapEntry(entry) => [&entry.key, &entry.value].into_iter().for_each(|part| self.look_at(part)),
                        EntryExpr::StructField(field) => self.look_at(&field.value),
                    }
                }
            }
            Expr::Comprehension(walk) => {
                self.walks += 1;
                for part in [&walk.iter_range, &walk.accu_init] {
                    self.look_at(part);
                }
                let before = self.own.len();
                self.own.extend([walk.iter_var.as_str(), walk.accu_var.as_str()]);
                self.own.extend(walk.iter_var2.as_deref());
                for part in [&walk.loop_cond, &walk.loop_step, &walk.result] {
                    self.look_at(part);
                }
                self.own.truncate(before);
            }
            Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) => {}
        }
    }
}

/// A name and what is selected from it: its root, and all of it.
fn dotted(expression: &IdedExpr) -> Option<(&str, String)> {
    match &expression.expr {
        Expr::Ident(name) => Some((name, name.clone())),
        Expr::Select(select) => {
            let (root, path) = dotted(&select.operand)?;
            Some((root, format!("{path}.{}", select.field)))
        }
        _ => None,
    }
}

fn serve(programs: &[(String, Program)], asked: &mpsc::Receiver<Question>) {
    while let Ok(Question { action, scene, answer }) = asked.recv() {
        let result = match programs.iter().find(|(name, _)| *name == action) {
            Some((_, program)) => evaluate(program, &scene),
            None => Err("the action has no condition".to_owned()),
        };
        drop(answer.send(result));
    }
}

fn evaluate(program: &Program, scene: &Value) -> Result<bool, String> {
    let mut context = Context::default();
    for name in NAMES {
        let value = scene.get(name).unwrap_or(&Value::Null);
        context.add_variable(name, value).map_err(|_| format!("'{name}' cannot be handed to CEL"))?;
    }
    match program.execute(&context) {
        Ok(CelValue::Bool(holds)) => Ok(holds),
        Ok(_) => Err("the condition gives neither true nor false".to_owned()),
        Err(e) => Err(words(&e).to_owned()),
    }
}

/// What is wrong, without CEL's own words: those repeat values of the enquiry, and ours go into the journal (I12).
fn words(error: &ExecutionError) -> &'static str {
    match error {
        ExecutionError::NoSuchKey(_) => "it names a field that is not there",
        ExecutionError::UndeclaredReference(_) => "it names something that does not exist",
        ExecutionError::DivisionByZero(_) | ExecutionError::RemainderByZero(_) | ExecutionError::Overflow(..) => {
            "a number in it cannot be computed"
        }
        _ => "it cannot be computed on this enquiry",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    async fn holds(source: &str, scene: Value) -> Result<bool, String> {
        Conditions::compile(vec![("a".to_owned(), source.to_owned())]).unwrap().holds("a", &scene).await
    }

    const DEFAULT: &str = "qualification.qualified && enquiry.contact.email != null";

    #[tokio::test]
    async fn the_default_of_outward_messages_reads_qualification_and_address() {
        let scene =
            |qualified: bool, email: Value| json!({"qualification": {"qualified": qualified}, "enquiry": {"contact": {"email": email}}});
        assert_eq!(holds(DEFAULT, scene(true, json!("a@example.com"))).await, Ok(true));
        assert_eq!(holds(DEFAULT, scene(false, json!("a@example.com"))).await, Ok(false));
        assert_eq!(holds(DEFAULT, scene(true, Value::Null)).await, Ok(false));
        assert!(holds(DEFAULT, json!({"enquiry": {}})).await.is_err());
    }

    #[tokio::test]
    async fn a_walk_over_a_list_names_its_own_variable() {
        assert_eq!(holds("[1, 2].exists(n, n == 2) && key == 'k'", json!({"key": "k"})).await, Ok(true));
        assert_eq!(
            holds("['sales', 'support'].exists(t, qualification.request_type == t)", json!({"qualification": {"request_type": "sales"}}))
                .await,
            Ok(true)
        );
    }

    #[tokio::test]
    async fn an_expression_that_would_overflow_a_workers_stack_is_answered() {
        let nested = "(".repeat(400) + "true" + &")".repeat(400);
        assert!(Conditions::compile(vec![("a".to_owned(), nested)]).is_err());
        let sum = vec!["1"; 500].join("+") + " > 3";
        assert_eq!(holds(&sum, json!({})).await, Ok(true));
    }

    #[test]
    fn what_is_miswritten_is_named_by_its_action() {
        let long = "true || ".repeat(200) + "true";
        let bomb = (0..16).fold("true".to_owned(), |inner, n| format!("[1,2,3,4,5,6,7,8,9,0].all(x{n}, {inner})"));
        let mut sources = vec![("a", "1 +"), ("b", "true"), ("c", long.as_str()), ("d", "nosuch.thing == 1"), ("e", bomb.as_str())];
        sources.push(("f", "qualification.qualified && [1].exists(n, n == 1 && size(enquiry.contact.mail) > 0)"));
        sources.push(("h", "enquiry.message == '.map(x, .map(x, .map(x, '"));
        sources.push(("g", "has(enquiry.other.size) && [enquiry].exists(enquiry, enquiry.own == 1)"));
        let wrong = Conditions::compile(sources.iter().map(|(n, s)| ((*n).to_owned(), (*s).to_owned())).collect()).err().unwrap();
        assert_eq!(wrong.iter().map(|w| w.action.as_str()).collect::<Vec<_>>(), ["a", "c", "d", "e", "f"]);
        assert!(wrong[4].why.contains("there is no `enquiry.contact.mail`"), "{}", wrong[4].why);
    }

    #[tokio::test]
    async fn i12_a_condition_that_fails_repeats_nothing_of_the_enquiry() {
        let scene = json!({"enquiry": {"contact": {"name": "Avery Secretname", "email": "avery@example.com"}}});
        for source in [
            "enquiry.contact[enquiry.contact.name] == 1",
            "int(enquiry.contact.name) > 1",
            "enquiry.contact.name.matches('[' + enquiry.contact.email)",
            "enquiry.contact.name + 1 == 2",
        ] {
            let why = holds(source, scene.clone()).await.unwrap_err();
            assert!(!why.to_lowercase().contains("avery") && !why.contains("Secretname"), "{source}: {why}");
        }
    }

    #[tokio::test]
    async fn a_condition_that_is_no_truth_value_is_an_error() {
        assert!(holds("1 + 1", json!({})).await.is_err());
    }
}
