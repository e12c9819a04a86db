//! `oncebook init`: writes a commented configuration for chosen sources and targets, and says what to type next.
//!
//! What the file says is [`text`]'s, which of its keys exist the table of keys'. Here it is tried by the one reader of
//! configurations before anything is written, and nothing that is there is overwritten unasked.

mod chosen;
mod text;

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use self::chosen::Chosen;
use super::first;
use super::table::print_json;
use super::{CliError, Common, Ended, environment};
use crate::config::{Config, ConfigError, USUAL_FILE, schema};

/// The schema, beside the configuration.
const SCHEMA_FILE: &str = "oncebook.schema.json";

/// Options of `init`.
#[derive(Args)]
pub(super) struct InitArgs {
    /// A source of enquiries, reached under /in/NAME; several with several flags. Kinds: generic
    #[arg(long, value_name = "NAME[=KIND]", default_value = "web")]
    source: Vec<String>,
    /// How deliveries prove where they come from
    #[arg(long, value_enum, default_value = "none")]
    auth: chosen::AuthWord,
    /// Where something is done; several with several flags. Kinds: desk (the embedded CRM), http (any API), outbox (messages)
    #[arg(long, value_name = "NAME=KIND", default_values = ["crm=desk", "mail=outbox"])]
    target: Vec<String>,
    /// Who qualifies an enquiry
    #[arg(long, value_enum, default_value = "rules")]
    qualifier: chosen::QualifierWord,
    /// IP address and port to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8484")]
    listen: String,
    /// Also write the JSON Schema beside it, for editors
    #[arg(long)]
    schema: bool,
    /// Print the configuration and write nothing; so does --config -
    #[arg(long, conflicts_with_all = ["schema", "force"])]
    stdout: bool,
    /// Write over a configuration that is there
    #[arg(long)]
    force: bool,
}

/// A file to write.
struct ToWrite {
    path: PathBuf,
    text: String,
    /// A letter that somebody wrote is kept in any case.
    keeps: bool,
}

pub(super) fn run(common: &Common, args: &InitArgs, out: &mut dyn Write) -> Result<Ended, CliError> {
    let chosen = Chosen::of(args)?;
    let path = common.config.clone().unwrap_or_else(|| PathBuf::from(USUAL_FILE));
    let alone = text::of(&chosen, text::Letters::Inside);
    let config = tried(&path, &alone)?;
    if args.stdout || path == Path::new("-") {
        out.write_all(alone.as_bytes())?;
        return Ok(Ended::Well);
    }
    let beside = |name: &str| path.with_file_name(name);
    let mut files: Vec<ToWrite> =
        chosen.letters().map(|letter| ToWrite { path: beside(&letter), text: text::LETTER.to_owned(), keeps: true }).collect();
    if args.schema {
        let text = serde_json::to_string_pretty(&schema()).map_err(|e| CliError::Said(format!("the schema cannot be written: {e}")))?;
        files.push(ToWrite { path: beside(SCHEMA_FILE), text: text + "\n", keeps: false });
    }
    files.push(ToWrite { path: path.clone(), text: text::of(&chosen, text::Letters::Beside), keeps: false });
    let kept = write(files, args.force)?;
    let next = Next::of(common, &config, &chosen, &kept, &beside(ENV_FILE));
    if common.json {
        print_json(out, &next.json())?;
    } else {
        out.write_all(next.lines().as_bytes())?;
    }
    Ok(Ended::Well)
}

/// The configuration that the text is. What was chosen and cannot be is said as the reader says it.
fn tried(path: &Path, text: &str) -> Result<Config, CliError> {
    Config::from_text(path, text, &environment).map_err(|error| match error {
        ConfigError::Invalid(problems) => {
            let said: Vec<String> = problems.iter().map(|problem| format!("{}: {}", problem.key, problem.message)).collect();
            CliError::Said(format!("nothing was written, for this cannot be:\n{}", said.join("\n")))
        }
        other @ ConfigError::Unreadable { .. } => other.into(),
    })
}

/// What became of each file.
struct Written {
    path: PathBuf,
    is_new: bool,
}

/// Writes the files, the configuration last: where it is, what it names is there.
fn write(files: Vec<ToWrite>, force: bool) -> Result<Vec<Written>, CliError> {
    let in_the_way = files.iter().find(|file| file.path.exists() && !file.keeps && !force);
    if let Some(file) = in_the_way {
        return Err(CliError::Said(format!(
            "{} is there already, and nothing was written: name another with --config FILE, or write over it with --force",
            file.path.display()
        )));
    }
    let mut written = Vec::new();
    for file in files {
        let failed = |e: std::io::Error| CliError::Said(format!("{} cannot be written: {e}", file.path.display()));
        let is_new = !(file.keeps && file.path.exists());
        if is_new {
            if let Some(dir) = file.path.parent().filter(|dir| !dir.as_os_str().is_empty()) {
                std::fs::create_dir_all(dir).map_err(failed)?;
            }
            std::fs::write(&file.path, &file.text).map_err(failed)?;
        }
        written.push(Written { path: file.path, is_new });
    }
    Ok(written)
}

/// What to do next, each part as lines of a shell.
struct Next {
    written: Vec<String>,
    kept: Vec<String>,
    /// What sets each secret, once and for all; the last line, in every terminal.
    secrets: Vec<String>,
    check: String,
    serve: String,
    post: Vec<String>,
    look: Vec<String>,
}

/// Where the printed lines keep secrets, beside the configuration: only its owner may read it.
const ENV_FILE: &str = "oncebook.env";

impl Next {
    fn of(common: &Common, config: &Config, chosen: &Chosen, written: &[Written], env_file: &Path) -> Self {
        let program = common.program();
        let names = |new: bool| written.iter().filter(|file| file.is_new == new).map(|file| file.path.display().to_string()).collect();
        let secrets = chosen.secrets();
        let (kept, read) = (first::word(env_file), first::word(&sourced(env_file)));
        let mut lines: Vec<String> = secrets
            .iter()
            .map(|secret| format!("(umask 077; echo \"export {}={}\" >> {kept})", secret.variable, secret.made_by()))
            .collect();
        lines.extend((!secrets.is_empty()).then(|| format!(". {read}")));
        let post = config.sources.first().map(|source| first::post(&format!("http://{}/in/{}", config.server.listen, source.name), source));
        Self {
            written: names(true),
            kept: names(false),
            secrets: lines,
            check: format!("{program} config check"),
            serve: format!("{program} serve"),
            post: post.unwrap_or_default(),
            look: vec![format!("{program} enquiries"), format!("{program} show {}", first::FIRST)],
        }
    }

    fn json(&self) -> serde_json::Value {
        json!({
            "written": self.written, "kept": self.kept,
            "next": {"secrets": self.secrets, "check": self.check, "serve": self.serve, "post": self.post, "look": self.look},
        })
    }

    fn lines(&self) -> String {
        let mut lines = vec![format!("Written: {}", self.written.join(", "))];
        lines.extend((!self.kept.is_empty()).then(|| format!("Kept as they are: {}", self.kept.join(", "))));
        let mut part = |says: &str, typed: &[String]| {
            lines.extend([String::new(), says.to_owned()]);
            lines.extend(typed.iter().map(|line| format!("  {line}")));
        };
        if let Some(last) = self.secrets.last() {
            part(&format!("Set the secrets, once; then in every terminal only the last line, `{last}`:"), &self.secrets);
        }
        part("Check, and start:", &[self.check.clone(), self.serve.clone()]);
        part("Then, in another terminal, post the first enquiry:", &self.post);
        part("and see what became of it:", &self.look);
        lines.join("\n") + "\n"
    }
}

/// The file as `.` takes it, which looks for a bare name elsewhere.
fn sourced(file: &Path) -> PathBuf {
    if file.components().count() > 1 { file.to_owned() } else { Path::new(".").join(file) }
}
