//! What was chosen on the command line: sources, how they prove themselves, targets, and the secrets that all this needs.

use clap::ValueEnum;

use super::InitArgs;
use crate::cli::CliError;

/// How deliveries prove where they come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum AuthWord {
    /// Not at all: for a server that only this machine reaches
    None,
    /// The secret in the header Authorization
    Bearer,
    /// A name and a password
    Basic,
    /// A signature over the body, in the header X-Signature
    HmacSha256,
    /// The scheme of that name
    StandardWebhooks,
}

/// Who qualifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum QualifierWord {
    /// The embedded rules
    Rules,
    /// A model server, here or elsewhere
    Openai,
}

/// Kinds of targets that a file can be written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TargetWord {
    Desk,
    Http,
    Outbox,
}

/// Everything that was chosen.
#[derive(Clone, Debug)]
pub(super) struct Chosen {
    pub(super) sources: Vec<Source>,
    pub(super) auth: AuthWord,
    pub(super) targets: Vec<Target>,
    pub(super) qualifier: QualifierWord,
    pub(super) listen: String,
    /// Whether the schema is written beside it.
    pub(super) schema: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) name: String,
    pub(super) kind: String,
    /// The variable of its secret.
    pub(super) variable: String,
}

#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) name: String,
    pub(super) kind: TargetWord,
    /// The variable of its token.
    pub(super) variable: String,
    /// The action that is done on it.
    pub(super) action: String,
}

/// A secret that the file refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NeededSecret {
    pub(super) variable: String,
    made: Made,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Made {
    /// Drawn here, and given to the sender.
    Hex,
    /// Drawn here, in the form of Standard Webhooks.
    Whsec,
    /// The other side gives it.
    Theirs,
}

impl NeededSecret {
    /// What a shell makes its value of.
    pub(super) fn made_by(&self) -> &'static str {
        match self.made {
            Made::Hex => "$(openssl rand -hex 32)",
            Made::Whsec => "whsec_$(openssl rand -base64 24)",
            Made::Theirs => "the-token-that-the-API-gave-you",
        }
    }
}

impl Chosen {
    pub(super) fn of(args: &InitArgs) -> Result<Self, CliError> {
        let mut variables = Vec::new();
        let sources = args.source.iter().map(|text| {
            let (name, kind) = text.split_once('=').unwrap_or((text, "generic"));
            let suffix = if args.auth == AuthWord::Basic { "PASSWORD" } else { "SECRET" };
            Source { name: name.to_owned(), kind: kind.to_owned(), variable: variable("SOURCE", name, suffix, &mut variables) }
        });
        let sources = sources.collect();
        let mut targets = Vec::new();
        for text in &args.target {
            let Some((name, kind)) = text.split_once('=') else {
                return Err(CliError::Said(format!("--target {text}: say of what kind it is: {text}=desk, {text}=http or {text}=outbox")));
            };
            let kind = match kind {
                "desk" => TargetWord::Desk,
                "http" => TargetWord::Http,
                "outbox" => TargetWord::Outbox,
                other => return Err(CliError::Said(format!("--target {text}: there is no kind `{other}`; use desk, http or outbox"))),
            };
            let usual = if kind == TargetWord::Outbox { "follow-up" } else { "deal" };
            let taken = targets.iter().any(|target: &Target| target.action == usual);
            let action = if taken { format!("{usual}-{name}") } else { usual.to_owned() };
            targets.push(Target { name: name.to_owned(), kind, variable: variable("TARGET", name, "TOKEN", &mut variables), action });
        }
        Ok(Self { sources, auth: args.auth, targets, qualifier: args.qualifier, listen: args.listen.clone(), schema: args.schema })
    }

    /// The secrets that must be set.
    pub(super) fn secrets(&self) -> Vec<NeededSecret> {
        let made = match self.auth {
            AuthWord::None => None,
            AuthWord::StandardWebhooks => Some(Made::Whsec),
            AuthWord::Bearer | AuthWord::Basic | AuthWord::HmacSha256 => Some(Made::Hex),
        };
        let sources = self.sources.iter().filter_map(|source| Some(NeededSecret { variable: source.variable.clone(), made: made? }));
        let http = self.targets.iter().filter(|target| target.kind == TargetWord::Http);
        sources.chain(http.map(|target| NeededSecret { variable: target.variable.clone(), made: Made::Theirs })).collect()
    }

    /// The template files of messages, beside the configuration.
    pub(super) fn letters(&self) -> impl Iterator<Item = String> {
        self.targets.iter().filter(|target| target.kind == TargetWord::Outbox).map(Target::letter)
    }
}

impl Target {
    /// The template file of its message.
    pub(super) fn letter(&self) -> String {
        format!("templates/{}.txt", self.action)
    }
}

/// `WEB_SECRET` for `web`: a variable that a shell takes, and no other's.
fn variable(before: &str, name: &str, suffix: &str, taken: &mut Vec<String>) -> String {
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    let plain = if plain.starts_with(|c: char| c.is_ascii_digit()) { format!("{before}_{plain}") } else { plain };
    let mut variable = format!("{plain}_{suffix}");
    let mut n = 2;
    while taken.contains(&variable) {
        variable = format!("{plain}_{n}_{suffix}");
        n += 1;
    }
    taken.push(variable.clone());
    variable
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_plain_and_each_its_own() {
        let mut taken = Vec::new();
        let made = ["web", "2024-form", "a-b", "a_b", "a b"].map(|name| variable("SOURCE", name, "SECRET", &mut taken));
        assert_eq!(made, ["WEB_SECRET", "SOURCE_2024_FORM_SECRET", "A_B_SECRET", "A_B_2_SECRET", "A_B_3_SECRET"]);
    }
}
