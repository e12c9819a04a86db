//! The target `outbox`: messages as files of a Maildir, the embedded stand-in for sending.
//!
//! A message's file is named after its Message-ID, and a second one of that name is refused, whoever writes it. Any mail
//! program can read the folder. How a message is built is [`super::message`]'s; nothing leaves the machine from here.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use domain::enquiry::Fields;
use domain::gate::{Find, StepKind};
use domain::time::Clock;
use serde_json::Value as Json;
use tokio::sync::Semaphore;

use super::message::{Letter, id_in};
use super::{Call, Found, Outcome, ReadBack, Report, Target};
use crate::stops::Stops;

const TIMEOUT_MS: i64 = 5_000;
/// What the names of our files end with.
const SUFFIX: &str = ".oncebook";

/// What an outbox is made of. Each action that has a template of its own has an outbox of its own, over the same folder.
pub struct OutboxParams {
    /// The Maildir; made if it is not there.
    pub root: PathBuf,
    /// `From`: an address, or `Name <address>`.
    pub from: String,
    /// Template of the subject.
    pub subject: String,
    /// Template of the text.
    pub text: String,
    /// Deadlines are measured against it.
    pub clock: Arc<dyn Clock>,
    /// Places for drills: `outbox.before-link` and `outbox.after-link`.
    pub stops: Arc<Stops>,
}

/// The Maildir. Clones share it.
#[derive(Clone)]
pub struct Outbox {
    inner: Arc<Inner>,
}

struct Inner {
    root: PathBuf,
    letter: Letter,
    clock: Arc<dyn Clock>,
    stops: Arc<Stops>,
    /// Who waits for the disk's turn holds no thread.
    places: Arc<Semaphore>,
}

/// How many messages are written at once: more do not make a disk faster.
const AT_ONCE: usize = 4;

/// A message that stands in the outbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Its Message-ID, without brackets: the record's id.
    pub id: String,
    /// Its file.
    pub path: PathBuf,
    /// The message as it was built.
    pub bytes: Vec<u8>,
}

impl Outbox {
    /// Makes the folders and compiles the templates.
    pub fn open(params: OutboxParams) -> Result<Self, String> {
        let letter = Letter::compile(&params.from, &params.subject, &params.text)?;
        for folder in ["tmp", "new", "cur"] {
            let path = params.root.join(folder);
            fs::create_dir_all(&path).and_then(|()| sync(&path)).map_err(|e| format!("{}: {e}", path.display()))?;
        }
        sync(&params.root).map_err(|e| format!("{}: {e}", params.root.display()))?;
        let places = Arc::new(Semaphore::new(AT_ONCE));
        Ok(Self { inner: Arc::new(Inner { root: params.root, letter, clock: params.clock, stops: params.stops, places }) })
    }

    /// Every message of ours, new or seen, by name.
    pub async fn messages(&self) -> Result<Vec<Standing>, String> {
        self.ask(Inner::messages).await
    }

    /// The disk blocks, so it is asked off the runtime's threads.
    async fn ask<T: Send + 'static>(&self, work: impl FnOnce(&Inner) -> Result<T, String> + Send + 'static) -> Result<T, String> {
        let inner = Arc::clone(&self.inner);
        let place = Arc::clone(&inner.places).acquire_owned().await.map_err(|e| e.to_string())?;
        let asked = move || {
            let answer = work(&inner);
            drop(place);
            answer
        };
        tokio::task::spawn_blocking(asked).await.map_err(|e| format!("the outbox's thread ended: {e}"))?
    }
}

#[async_trait]
impl Target for Outbox {
    fn kind(&self) -> &'static str {
        "outbox"
    }

    fn steps(&self, _: &Fields) -> Vec<StepKind> {
        vec![StepKind::Message]
    }

    fn find(&self, _: StepKind) -> Find {
        Find::Unique
    }

    fn reads(&self, _: StepKind) -> bool {
        true
    }

    fn settle_ms(&self) -> i64 {
        0
    }

    fn timeout_ms(&self) -> i64 {
        TIMEOUT_MS
    }

    fn render(&self, key: &str, scene: &Json) -> Result<Vec<u8>, String> {
        self.inner.letter.message(key, scene)
    }

    async fn write(&self, call: &Call) -> Report<Outcome> {
        let call = call.clone();
        Report::bare(self.ask(move |inner| Ok(inner.put(&call))).await.unwrap_or_else(Outcome::Unknown))
    }

    async fn look_up(&self, call: &Call) -> Report<Found> {
        let call = call.clone();
        let found = self.ask(move |inner| {
            let id = id_in(&call.rendered).ok_or("what was rendered is no message of the outbox")?;
            Ok(inner.file_of(&id).map_err(|e| e.to_string())?.map(|_| id))
        });
        Report::bare(match found.await {
            Ok(Some(id)) => Found::Records(vec![id]),
            Ok(None) => Found::Absent,
            Err(why) => Found::CannotTell(why),
        })
    }

    async fn read_back(&self, call: &Call, id: &str) -> Report<ReadBack> {
        let (call, id) = (call.clone(), id.to_owned());
        let read = self.ask(move |inner| {
            let Some(path) = inner.file_of(&id).map_err(|e| e.to_string())? else { return Ok(ReadBack::Gone) };
            let bytes = fs::read(path).map_err(|e| e.to_string())?;
            Ok(if bytes == call.rendered { ReadBack::Same } else { ReadBack::Differs("the message's bytes".to_owned()) })
        });
        Report::bare(read.await.unwrap_or_else(ReadBack::Failed))
    }
}

/// A file in `tmp`, gone with this: whatever came of it, a half one on a full disk included. It holds an enquirer's words.
struct Aside(PathBuf);

impl Drop for Aside {
    fn drop(&mut self) {
        // Should it stay, it is no message: the next start and readers of a Maildir clear it.
        drop(fs::remove_file(&self.0));
    }
}

impl Inner {
    /// Writes aside, then links into `new` without overwriting: a reader sees the whole message or none.
    fn put(&self, call: &Call) -> Outcome {
        let not_sent = |why: String| Outcome::NotSent { why, retry_after_ms: None };
        let Some(id) = id_in(&call.rendered) else {
            return not_sent("what was rendered is no message of the outbox".to_owned());
        };
        let whole = |file: &mut File| file.write_all(&call.rendered).and_then(|()| file.sync_all());
        let aside = match self.written_aside(&id, whole) {
            Ok(aside) => aside,
            Err(e) => return not_sent(e.to_string()),
        };
        if self.clock.now() < call.deadline {
            self.linked(&aside.0, id)
        } else {
            not_sent("the deadline had passed before the write".to_owned())
        }
    }

    /// Has it written into `tmp`, under a name of this write's own. A process that was killed left its file there, and in a
    /// container the next one has the same process id.
    fn written_aside(&self, id: &str, write: impl FnOnce(&mut File) -> std::io::Result<()>) -> std::io::Result<Aside> {
        static WRITTEN: AtomicU64 = AtomicU64::new(0);
        loop {
            let n = WRITTEN.fetch_add(1, Ordering::Relaxed);
            let path = self.root.join("tmp").join(format!("{}.{}.{n}", file_name(id), std::process::id()));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(mut file) => {
                    let aside = Aside(path);
                    return write(&mut file).map(|()| aside);
                }
                Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e),
            }
        }
    }

    fn linked(&self, aside: &Path, id: String) -> Outcome {
        let folder = self.root.join("new");
        let target = folder.join(file_name(&id));
        match self.file_of(&id) {
            Ok(None) => {}
            Ok(Some(_)) => return Outcome::Conflict,
            Err(e) => return Outcome::NotSent { why: e.to_string(), retry_after_ms: None },
        }
        self.stops.at("outbox.before-link");
        match fs::hard_link(aside, &target) {
            Ok(()) => {}
            Err(e) if e.kind() == ErrorKind::AlreadyExists => return Outcome::Conflict,
            Err(e) => return Outcome::Unknown(e.to_string()),
        }
        self.stops.at("outbox.after-link");
        let is_second = self.carrying("cur", &id).map(|found| found.is_some() && target.exists());
        match is_second.and_then(|is_second| if is_second { fs::remove_file(&target).map(|()| true) } else { Ok(false) }) {
            // Another attempt's message came, and a reader moved it out of the way, between our look and our link.
            Ok(true) => Outcome::Conflict,
            Ok(false) => sync(&folder).map_or_else(|e| Outcome::Unknown(e.to_string()), |()| Outcome::Applied(id)),
            Err(e) => Outcome::Unknown(e.to_string()),
        }
    }

    /// The file of that message. `cur` after `new`: one that a reader moves meanwhile is seen in one of them.
    fn file_of(&self, id: &str) -> std::io::Result<Option<PathBuf>> {
        let found = self.carrying("new", id)?;
        if found.is_some() { Ok(found) } else { self.carrying("cur", id) }
    }

    /// Under its name, or under its name and flags (`name:2,S`) once a reader saw it.
    fn carrying(&self, folder: &str, id: &str) -> std::io::Result<Option<PathBuf>> {
        let name = file_name(id);
        let carries = |path: &PathBuf| {
            let found = path.file_name().and_then(|found| found.to_str());
            found.is_some_and(|found| found.split(":2,").next() == Some(&name))
        };
        Ok(self.files(folder)?.into_iter().find(carries))
    }

    fn files(&self, folder: &str) -> std::io::Result<Vec<PathBuf>> {
        fs::read_dir(self.root.join(folder))?.map(|entry| Ok(entry?.path())).collect()
    }

    fn messages(&self) -> Result<Vec<Standing>, String> {
        let mut standing = Vec::new();
        let files = self.files("new").and_then(|new| Ok((new, self.files("cur")?)));
        let (new, cur) = files.map_err(|e| e.to_string())?;
        for path in new.into_iter().chain(cur) {
            let bytes = fs::read(&path).map_err(|e| e.to_string())?;
            standing.extend(id_in(&bytes).map(|id| Standing { id, path, bytes }));
        }
        standing.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(standing)
    }
}

/// A new name is durable once its folder is.
fn sync(folder: &Path) -> std::io::Result<()> {
    File::open(folder)?.sync_all()
}

/// The file's name: of the Message-ID only the part that is a digest, for a domain is no safe name.
fn file_name(id: &str) -> String {
    let name: String = id.split('@').next().unwrap_or_default().chars().filter(|c| c.is_ascii_alphanumeric() || *c == '.').collect();
    format!("{name}{SUFFIX}")
}

/// Removes what a process that was killed left in `tmp`: ours, by its name.
///
/// No message was ever made of it, and it holds an enquirer's words. Called before anything is written, by whoever holds the data directory's lock.
pub fn clear_leftovers(root: &Path) -> std::io::Result<()> {
    let tmp = root.join("tmp");
    if !tmp.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(tmp)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().contains(SUFFIX) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
