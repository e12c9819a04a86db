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
/// CEL's walks over lists and maps, and how many a condition may have.
const WALKS: [&str; 5] = [".all(", ".exists(", ".exists_one(", ".map(", ".filter("];
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
            Ok(program) => match unsuited(&source, &program) {
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
fn unsuited(source: &str, program: &Program) -> Option<String> {
    // `list.exists(name, …)` names what it walks with.
    let walks = WALKS.iter().flat_map(|walk| source.split(walk).skip(1)).collect::<Vec<_>>();
    if walks.len() > WALKS_MAX {
        return Some(format!("it walks over lists {} times: {WALKS_MAX} are the most", walks.len()));
    }
    let own = walks.iter().filter_map(|rest| rest.split(',').next()).map(str::trim).collect::<Vec<_>>();
    let references = program.references();
    let is_known = |name: &&str| NAMES.contains(name) || own.contains(name) || name.starts_with('@');
    if let Some(unknown) = references.variables().into_iter().find(|name| !is_known(name)) {
        return Some(format!("it names '{unknown}': a condition sees {}", NAMES.join(", ")));
    }
    let mut paths = Vec::new();
    dotted_names(program.expression(), &mut paths);
    let is_own = |path: &str| path.split('.').next().is_some_and(|root| own.contains(&root));
    paths.iter().filter(|path| !is_own(path)).find_map(|path| slip(path))
}

/// Every dotted name (`enquiry.contact.email`) in an expression.
fn dotted_names(expression: &IdedExpr, found: &mut Vec<String>) {
    let mut of = |part: &IdedExpr| dotted_names(part, found);
    match &expression.expr {
        Expr::Select(select) => match dotted(expression) {
            Some(path) => found.push(path),
            None => of(&select.operand),
        },
        Expr::Call(call) => call.target.as_deref().into_iter().chain(&call.args).for_each(of),
        Expr::List(list) => list.elements.iter().for_each(of),
        Expr::Map(MapExpr { entries }) | Expr::Struct(StructExpr { entries, .. }) => {
            for entry in entries {
                match &entry.expr {
                    EntryExpr::MapEntry(entry) => [&entry.key, &entry.value].into_iter().for_each(&mut of),
                    EntryExpr::StructField(field) => of(&field.value),
                }
            }
        }
        Expr::Comprehension(walk) => {
            [&walk.iter_range, &walk.accu_init, &walk.loop_cond, &walk.loop_step, &walk.result].into_iter().for_each(of);
        }
        Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) => {}
    }
}

fn dotted(expression: &IdedExpr) -> Option<String> {
    match &expression.expr {
        Expr::Ident(name) => Some(name.clone()),
        Expr::Select(select) => Some(format!("{}.{}", dotted(&select.operand)?, select.field)),
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
