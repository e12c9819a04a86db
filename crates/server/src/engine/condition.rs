//! `when`: conditions in CEL, compiled and evaluated on a thread of their own.
//!
//! A CEL expression can overflow a worker's stack, and an overflow ends the process: parsing recurses on nesting and on long
//! sums. So the source is capped, compiled when the configuration is loaded, and both happen on one thread with a stack that
//! is large enough for anything under the cap (docs/adr/0005).

use std::sync::mpsc;

use cel::{Context, Program, Value as CelValue};
use serde_json::Value;
use tokio::sync::oneshot;

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
            Ok(program) => programs.push((action, program)),
            Err(e) => wrong.push(Miswritten { action, why: format!("not an expression that CEL reads: {e}") }),
        }
    }
    (programs, wrong)
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
    for name in ["key", "action", "enquiry", "qualification"] {
        let value = scene.get(name).unwrap_or(&Value::Null);
        context.add_variable(name, value).map_err(|e| format!("'{name}' cannot be handed to CEL: {e}"))?;
    }
    match program.execute(&context) {
        Ok(CelValue::Bool(holds)) => Ok(holds),
        Ok(_) => Err("the condition gives neither true nor false".to_owned()),
        Err(e) => Err(format!("the condition cannot be evaluated: {e}")),
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
    async fn an_expression_that_would_overflow_a_workers_stack_is_answered() {
        let nested = "(".repeat(400) + "true" + &")".repeat(400);
        assert!(Conditions::compile(vec![("a".to_owned(), nested)]).is_err());
        let sum = vec!["1"; 500].join("+") + " > 3";
        assert_eq!(holds(&sum, json!({})).await, Ok(true));
    }

    #[test]
    fn what_is_miswritten_is_named_by_its_action() {
        let long = "true || ".repeat(200) + "true";
        let sources = [("a", "1 +"), ("b", "true"), ("c", long.as_str())];
        let wrong = Conditions::compile(sources.iter().map(|(n, s)| ((*n).to_owned(), (*s).to_owned())).collect()).err().unwrap();
        assert_eq!(wrong.iter().map(|w| w.action.as_str()).collect::<Vec<_>>(), ["a", "c"]);
    }

    #[tokio::test]
    async fn a_condition_that_is_no_truth_value_is_an_error() {
        assert!(holds("1 + 1", json!({})).await.is_err());
    }
}
