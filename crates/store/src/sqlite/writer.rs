//! The one writer: a thread that takes what many callers want, does it in one transaction and pays for one fsync.
//!
//! Each caller's work runs in a savepoint of its own, so that one that fails takes nothing else with it. Nobody is answered
//! before the commit. If the commit of a batch fails, each work is tried once more alone; what then fails is told so.

use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::{mpsc, oneshot};

use domain::ids::EnquiryId;
use evidence::{Draft, Entry, Head, seal};

use super::fault;
use crate::error::Error;

/// How many callers may wait for the writer. More are turned away at once: the door then answers 503 (I1).
const QUEUE_MAX: usize = 4096;

/// The journal's end, and what a caller's work may do inside the transaction.
pub(super) struct Txn<'a> {
    pub(super) conn: &'a Connection,
    ord: i64,
    head: &'a mut Head,
}

impl Txn<'_> {
    /// Appends one entry to this process's stream.
    pub(super) fn append(&mut self, draft: Draft) -> Result<Entry, Error> {
        append_to(self.conn, self.ord, self.head, draft)
    }

    /// The journal's end.
    pub(super) fn head(&self) -> Head {
        self.head.clone()
    }
}

/// Seals a draft behind the head, writes it and moves the head on.
pub(super) fn append_to(conn: &Connection, ord: i64, head: &mut Head, draft: Draft) -> Result<Entry, Error> {
    let (entry, next) = seal(head, draft);
    let text = serde_json::to_string(&entry).map_err(|e| Error::Corrupt(e.to_string()))?;
    let enquiry = entry.enquiry.as_ref().map(EnquiryId::as_str);
    let seq = i64::try_from(entry.seq).map_err(|e| Error::Corrupt(e.to_string()))?;
    conn.prepare_cached("INSERT INTO journal (stream, seq, enquiry, entry) VALUES (?1, ?2, ?3, ?4)")
        .and_then(|mut statement| statement.execute((ord, seq, enquiry, text)))
        .map_err(fault)?;
    *head = next;
    Ok(entry)
}

/// One caller's work: run in the transaction, perhaps twice, and answered after the commit.
trait Work: Send {
    fn run(&mut self, txn: &mut Txn<'_>) -> Result<(), Error>;
    fn answer(self: Box<Self>, committed: Result<(), Error>);
}

struct Wanted<R, F> {
    work: F,
    result: Option<R>,
    reply: oneshot::Sender<Result<R, Error>>,
}

impl<R: Send, F: FnMut(&mut Txn<'_>) -> Result<R, Error> + Send> Work for Wanted<R, F> {
    fn run(&mut self, txn: &mut Txn<'_>) -> Result<(), Error> {
        self.result = Some((self.work)(txn)?);
        Ok(())
    }

    fn answer(self: Box<Self>, committed: Result<(), Error>) {
        let Self { result, reply, .. } = *self;
        let answer = committed.and_then(|()| result.ok_or_else(|| Error::Unavailable("the work was not run".to_owned())));
        // A caller that went away does not need its answer; what it wanted is done.
        drop(reply.send(answer));
    }
}

/// The way to the writer's thread.
#[derive(Clone)]
pub(super) struct Writer {
    queue: mpsc::Sender<Box<dyn Work>>,
}

impl Writer {
    /// Starts the thread. `ord` and `head` are the stream that this process writes.
    pub(super) fn start(conn: Connection, ord: i64, head: Head, batch_max: usize) -> Result<Self, Error> {
        let (queue, wanted) = mpsc::channel(QUEUE_MAX);
        std::thread::Builder::new()
            .name("book-writer".to_owned())
            .spawn(move || Desk { conn, ord, head, batch_max }.serve(wanted))
            .map_err(|e| Error::Unavailable(format!("the writer's thread cannot start: {e}")))?;
        Ok(Self { queue })
    }

    /// Runs the work inside the next transaction and waits until that is durable.
    pub(super) async fn write<R, F>(&self, work: F) -> Result<R, Error>
    where
        R: Send + 'static,
        F: FnMut(&mut Txn<'_>) -> Result<R, Error> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        self.queue.try_send(Box::new(Wanted { work, result: None, reply })).map_err(|refused| {
            Error::Unavailable(match refused {
                mpsc::error::TrySendError::Full(_) => "more writes wait than the book takes".to_owned(),
                mpsc::error::TrySendError::Closed(_) => "the writer has stopped".to_owned(),
            })
        })?;
        answer.await.unwrap_or_else(|_| Err(Error::Unavailable("the writer stopped before it answered".to_owned())))
    }
}

/// What the thread owns.
struct Desk {
    conn: Connection,
    ord: i64,
    head: Head,
    batch_max: usize,
}

impl Desk {
    fn serve(mut self, mut wanted: mpsc::Receiver<Box<dyn Work>>) {
        while let Some(first) = wanted.blocking_recv() {
            let mut batch = vec![first];
            while batch.len() < self.batch_max {
                let Ok(next) = wanted.try_recv() else { break };
                batch.push(next);
            }
            self.commit(batch);
        }
    }

    fn commit(&mut self, mut batch: Vec<Box<dyn Work>>) {
        match self.transaction(&mut batch) {
            Ok(answers) => answer_all(batch, answers),
            Err(error) if batch.len() == 1 => answer_all(batch, vec![Err(error)]),
            // One that is too large for what is left of the disk must not fail its neighbours.
            Err(_) => batch.into_iter().for_each(|work| self.commit(vec![work])),
        }
    }

    /// Runs all of them in one transaction. `Err`: nothing of it stands, and the journal's end is where it was.
    fn transaction(&mut self, batch: &mut [Box<dyn Work>]) -> Result<Vec<Result<(), Error>>, Error> {
        let before = self.head.clone();
        let mut head = before.clone();
        let result = (|| {
            let mut transaction = self.conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fault)?;
            let mut answers = Vec::with_capacity(batch.len());
            for work in batch {
                let savepoint = transaction.savepoint().map_err(fault)?;
                let mut own = head.clone();
                let done = work.run(&mut Txn { conn: &savepoint, ord: self.ord, head: &mut own });
                if done.is_ok() {
                    savepoint.commit().map_err(fault)?;
                    head = own;
                }
                answers.push(done);
            }
            transaction.commit().map_err(fault)?;
            Ok(answers)
        })();
        self.head = if result.is_ok() { head } else { before };
        result
    }
}

fn answer_all(batch: Vec<Box<dyn Work>>, answers: Vec<Result<(), Error>>) {
    for (work, answer) in batch.into_iter().zip(answers) {
        work.answer(answer);
    }
}
