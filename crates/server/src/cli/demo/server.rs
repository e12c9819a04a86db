//! The demo's server: this very program, started as `serve` on a temporary directory, killed and started again.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use super::super::CliError;

/// A running server and its directory.
pub(super) struct Server {
    dir: PathBuf,
    running: Running,
    http: reqwest::Client,
}

struct Running {
    child: Child,
    address: SocketAddr,
    /// What it says is short, and stays in this pipe; dropped, it would be closed under the server's hands.
    _says: Lines<BufReader<ChildStdout>>,
}

impl Server {
    /// Makes the directory and starts the server; one action writes to the CRM at `crm`.
    pub(super) async fn start(crm: SocketAddr) -> Result<Self, CliError> {
        let dir = std::env::temp_dir().join(format!("oncebook-demo-{}", std::process::id()));
        std::fs::create_dir_all(&dir)?;
        std::fs::write(dir.join("oncebook.toml"), configuration(&dir, crm))?;
        let running = spawn(&dir).await?;
        Ok(Self { dir, running, http: http_client()? })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.running.address
    }

    pub(super) fn dir(&self) -> &std::path::Path {
        &self.dir
    }

    /// `kill -9`.
    pub(super) async fn kill(&mut self) -> Result<(), CliError> {
        Ok(self.running.child.kill().await?)
    }

    /// Starts it again on the same book.
    pub(super) async fn start_again(&mut self) -> Result<(), CliError> {
        self.running = spawn(&self.dir).await?;
        Ok(())
    }

    /// Posts a body to the source; the answer.
    pub(super) async fn post(&self, body: &Value) -> Value {
        self.sender().post(self.running.address, body).await
    }

    /// A sender of enquiries, for many at once.
    pub(super) fn sender(&self) -> Sender {
        Sender(self.http.clone())
    }

    /// Reads from the server's API.
    pub(super) async fn get(&self, path: &str) -> Result<Value, CliError> {
        let failed = |e: reqwest::Error| CliError::Said(format!("the demo's server did not answer: {e}"));
        self.http.get(format!("http://{}{path}", self.running.address)).send().await.map_err(failed)?.json().await.map_err(failed)
    }

    /// Ends it and removes the directory.
    pub(super) async fn end(mut self) {
        // A server that is gone already is ended too.
        drop(self.running.child.kill().await);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // What cannot be removed is only a temporary directory.
        drop(std::fs::remove_dir_all(&self.dir));
    }
}

/// Plays the part of a website.
pub(super) struct Sender(reqwest::Client);

impl Sender {
    /// Posts a body to the source at this address; an answer that did not come is null.
    pub(super) async fn post(&self, address: SocketAddr, body: &Value) -> Value {
        match self.0.post(format!("http://{address}/in/web")).json(body).send().await {
            Ok(answer) => answer.json().await.unwrap_or_default(),
            Err(_) => Value::Null,
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the demo plays a sender; it writes to no target")]
fn http_client() -> Result<reqwest::Client, CliError> {
    let client = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(30)).build();
    client.map_err(|e| CliError::Said(format!("no HTTP client: {e}")))
}

async fn spawn(dir: &std::path::Path) -> Result<Running, CliError> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("--config").arg(dir.join("oncebook.toml")).arg("serve");
    command.env("ONCEBOOK_LOG", "error").stdout(Stdio::piped()).stdin(Stdio::null()).kill_on_drop(true);
    let mut child = command.spawn()?;
    let stopped = || CliError::Said("the demo's server did not start: see above".to_owned());
    let mut lines = BufReader::new(child.stdout.take().ok_or_else(stopped)?).lines();
    // Its first line names the address; it is written once the address is bound.
    let first = lines.next_line().await?.ok_or_else(stopped)?;
    let address = first.rsplit("http://").next().and_then(|address| address.trim().parse().ok()).ok_or_else(stopped)?;
    Ok(Running { child, address, _says: lines })
}

/// Short spans, so that the demo shows in seconds what takes minutes in earnest.
fn configuration(dir: &std::path::Path, crm: SocketAddr) -> String {
    format!(
        r#"[server]
listen = "127.0.0.1:0"
data_dir = "{dir}"

[engine]
pause_max = "500ms"
backoff = "200ms"
backoff_max = "1s"

[[source]]
name = "web"
kind = "generic"
auth = {{ scheme = "none" }}
identity = {{ submission = "/submission_id" }}
map = {{ "contact.email" = "/email", "contact.name" = "/name", message = "/message" }}

[[target]]
name = "desk"
kind = "desk"

[[target]]
name = "crm"
kind = "http"
timeout = "2s"
settle = "500ms"
write = {{ method = "POST", url = "http://{crm}/deals", body = '{{"external_key": {{{{ key|tojson }}}}, "title": {{{{ enquiry.summary|tojson }}}}}}', id = "/id" }}
find = {{ method = "GET", url = "http://{crm}/deals?external_key={{{{ key|urlencode }}}}", records = "/results", id = "/id", key = "/external_key", consistency = "strong" }}
read = {{ method = "GET", url = "http://{crm}/deals/{{{{ id }}}}", key = "/external_key" }}

[[target]]
name = "mail"
kind = "outbox"
from = "desk@example.com"

[[action]]
name = "deal"
target = "desk"

[[action]]
name = "record"
target = "crm"

[[action]]
name = "follow-up"
target = "mail"
after = ["deal", "record"]
per_address = "100/24h"
"#,
        dir = dir.display()
    )
}
