//! The servers that are measured: this very program, each in a process and a directory of its own.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use super::super::CliError;

/// A running server.
pub(super) struct Part {
    /// Where it listens.
    pub(super) address: SocketAddr,
    /// Its data directory.
    pub(super) dir: PathBuf,
    child: Child,
    /// Dropped, the pipe would be closed under the server's hands.
    _says: Lines<BufReader<ChildStdout>>,
}

/// What a server is configured with, beside its directory.
#[derive(Clone, Copy)]
pub(super) struct Setup<'a> {
    /// How many runs it works at once; 0: it only enters.
    pub(super) workers: usize,
    /// The instant CRM that it writes to.
    pub(super) crm: Option<SocketAddr>,
    /// The instant model that it asks.
    pub(super) model: Option<SocketAddr>,
    /// Its arguments.
    pub(super) arguments: &'a [&'a str],
}

impl Part {
    /// Starts it in a new directory of that name.
    pub(super) async fn start(root: &Path, name: &str, setup: Setup<'_>) -> Result<Self, CliError> {
        let dir = root.join(name);
        std::fs::create_dir_all(&dir)?;
        let file = dir.join("oncebook.toml");
        std::fs::write(&file, configuration(&dir, setup))?;
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("--config").arg(&file).args(setup.arguments);
        command.env("ONCEBOOK_LOG", "error").stdout(Stdio::piped()).stdin(Stdio::null()).kill_on_drop(true);
        let mut child = command.spawn()?;
        let stopped = || CliError::Said(format!("the server '{name}' did not start: see above"));
        let mut lines = BufReader::new(child.stdout.take().ok_or_else(stopped)?).lines();
        let first = lines.next_line().await?.ok_or_else(stopped)?;
        let address = first.rsplit("http://").next().and_then(|address| address.trim().parse().ok()).ok_or_else(stopped)?;
        Ok(Self { address, dir, child, _says: lines })
    }

    /// Its process id; 0 once it is gone.
    pub(super) fn pid(&self) -> u32 {
        self.child.id().unwrap_or(0)
    }

    /// Ends it, as an operator does: what it began is finished, and its book folded into one file.
    pub(super) async fn end(mut self) -> Result<PathBuf, CliError> {
        let told = Command::new("kill").arg(self.pid().to_string()).status().await?;
        if !told.success() {
            return Err(CliError::Said("a server of the bench could not be told to end".to_owned()));
        }
        self.child.wait().await?;
        Ok(self.dir)
    }
}

fn configuration(dir: &Path, setup: Setup<'_>) -> String {
    let mut parts = vec![format!(
        r#"[server]
listen = "127.0.0.1:0"
data_dir = "{dir}"

[store]
url = "sqlite:{dir}/book.db"

[engine]
workers = {workers}

[[source]]
name = "web"
kind = "generic"
auth = {{ scheme = "none" }}
identity = {{ submission = "/submission_id" }}
look_alike = {{ window = "10m", then = "hold" }}
map = {{ "contact.email" = "/email", "contact.name" = "/name", "contact.phone" = "/phone", "contact.company" = "/company", message = "/message", occurred_at = "/submitted_at" }}
"#,
        dir = dir.display(),
        workers = setup.workers,
    )];
    if let Some(model) = setup.model {
        parts.push(format!("\n[qualifier]\nkind = \"openai\"\nbase_url = \"http://{model}/v1\"\nmodel = \"bench\"\n"));
    }
    if let Some(crm) = setup.crm {
        parts.push(format!(
            r#"
[[target]]
name = "crm"
kind = "http"
write = {{ method = "POST", url = "http://{crm}/deals", body = '{{"external_key": {{{{ key|tojson }}}}, "title": {{{{ enquiry.summary|tojson }}}}, "email": {{{{ enquiry.contact.email|tojson }}}}}}', id = "/id" }}
find = {{ method = "GET", url = "http://{crm}/deals?external_key={{{{ key|urlencode }}}}", records = "/results", id = "/id", key = "/external_key", consistency = "strong" }}
read = {{ method = "GET", url = "http://{crm}/deals/{{{{ id }}}}", key = "/external_key" }}

[[action]]
name = "deal"
target = "crm"
"#
        ));
    }
    parts.concat()
}
