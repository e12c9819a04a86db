//! The one writer: a thread that takes what many callers want, does it in one transaction and pays for one fsync.
//!
//! Mostly every work of a batch succeeds, so they run one after the other with nothing between them; where one fails, all is
//! rolled back and run again with a savepoint around each, so that it takes nothing else with it. Nobody is answered before
//! the commit. If the commit of a batch fails, each work is tried once more alone; what then fails is told so.

use std::cell::RefCell;
use std::fs::File;
use std::thread::JoinHandle;

use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior};
use tokio::sync::{mpsc, oneshot};

use domain::ids::EnquiryId;
use evidence::{Draft, Entry, Head, seal};

use super::fault;
use super::folding::Folding;
use super::marks::Marks;
use crate::error::Error;

/// How many callers may wait for the writer. More are turned away at once: the door then answers 503 (I1).
pub(super) const QUEUE_MAX: usize = 4096;

/// The journal's end, and what a caller's work may do inside the transaction.
pub(super) struct Txn<'a> {
    pub(super) conn: &'a Connection,
    ord: i64,
    head: &'a mut Head,
    marks: &'a Marks,
    /// The marks of what this transaction entered.
    pending: &'a mut Vec<(i64, i64)>,
    /// The enquiry that was asked for last: one work mostly speaks of one.
    last: RefCell<Option<(EnquiryId, i64)>>,
}

impl<'a> Txn<'a> {
    fn new(conn: &'a Connection, (ord, marks): (i64, &'a Marks), (head, pending): (&'a mut Head, &'a mut Vec<(i64, i64)>)) -> Self {
        Self { conn, ord, head, marks, pending, last: RefCell::default() }
    }

    /// The number of the latest enquiry with that mark.
    pub(super) fn latest(&self, mark: i64) -> Option<i64> {
        self.marks.latest(self.pending, mark)
    }

    /// An enquiry was entered with that mark.
    pub(super) fn marked(&mut self, mark: i64, n: i64) {
        self.pending.push((mark, n));
    }

    /// The number that the enquiry has in this book.
    pub(super) fn number(&self, id: &EnquiryId) -> Result<i64, Error> {
        if let Some((last, n)) = &*self.last.borrow()
            && last == id
        {
            return Ok(*n);
        }
        let found = number(self.conn, id)?.ok_or_else(|| Error::no_such_enquiry(id))?;
        self.entered(id, found);
        Ok(found)
    }

    /// It has that number from now on.
    pub(super) fn entered(&self, id: &EnquiryId, n: i64) {
        *self.last.borrow_mut() = Some((id.clone(), n));
    }

    /// Appends one entry to this process's stream.
    pub(super) fn append(&mut self, draft: Draft) -> Result<Entry, Error> {
        let enquiry = draft.enquiry.as_ref().map(|id| self.number(id)).transpose()?;
        append_to(self.conn, self.ord, self.head, draft, enquiry)
    }

    /// The journal's end.
    pub(super) fn head(&self) -> Head {
        self.head.clone()
    }
}

/// The number of an enquiry in the book; `None` if it is not there.
pub(super) fn number(conn: &Connection, id: &EnquiryId) -> Result<Option<i64>, Error> {
    let found = conn.prepare_cached("SELECT n FROM enquiries WHERE id = ?1");
    found.and_then(|mut statement| statement.query_row([id.as_str()], |row| row.get(0)).optional()).map_err(fault)
}

/// Seals a draft behind the head, writes it, filed under the number of its enquiry, and moves the head on.
pub(super) fn append_to(conn: &Connection, ord: i64, head: &mut Head, draft: Draft, enquiry: Option<i64>) -> Result<Entry, Error> {
    let (entry, next) = seal(head, draft);
    let text = serde_json::to_string(&entry).map_err(|e| Error::Corrupt(e.to_string()))?;
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

/// The way to the writer's thread. Dropped, it waits until the thread has done what was asked of it.
pub(super) struct Writer {
    queue: Option<mpsc::Sender<Box<dyn Work>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread. `ord` and `head` are the stream that this process writes; `lock` is let go when the thread ends,
    /// for until then this process may write.
    pub(super) fn start(
        (conn, folding): (Connection, Folding),
        (ord, head, marks): (i64, Head, Marks),
        batch_max: usize,
        lock: File,
    ) -> Result<Self, Error> {
        let (queue, wanted) = mpsc::channel(QUEUE_MAX);
        let thread = std::thread::Builder::new()
            .name("book-writer".to_owned())
            .spawn(move || Desk { folding, conn, ord, head, marks, batch_max, _lock: lock }.serve(wanted))
            .map_err(|e| Error::Unavailable(format!("the writer's thread cannot start: {e}")))?;
        Ok(Self { queue: Some(queue), thread: Some(thread) })
    }

    /// Runs the work inside the next transaction and waits until that is durable.
    pub(super) async fn write<R, F>(&self, work: F) -> Result<R, Error>
    where
        R: Send + 'static,
        F: FnMut(&mut Txn<'_>) -> Result<R, Error> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let Some(queue) = &self.queue else { unreachable!("the queue is taken only by drop") };
        queue.try_send(Box::new(Wanted { work, result: None, reply })).map_err(|refused| {
            Error::Unavailable(match refused {
                mpsc::error::TrySendError::Full(_) => "more writes wait than the book takes".to_owned(),
                mpsc::error::TrySendError::Closed(_) => "the writer has stopped".to_owned(),
            })
        })?;
        answer.await.unwrap_or_else(|_| Err(Error::Unavailable("the writer stopped before it answered".to_owned())))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(Err(panic)) = self.thread.take().map(JoinHandle::join) {
            // It has printed what it had to say; whoever waited for it was told that it stopped.
            drop(panic);
        }
    }
}

/// What the thread owns.
struct Desk {
    /// Before the connection, which is then the last: closing that folds the rest of the log.
    folding: Folding,
    conn: Connection,
    ord: i64,
    head: Head,
    marks: Marks,
    batch_max: usize,
    /// After the connection, so that it is let go last.
    _lock: File,
}

/// The journal's end after a transaction, and the marks of what it entered.
type Ended = (Head, Vec<(i64, i64)>);

/// Why nothing of a batch stands.
enum Failed {
    /// It could not begin: somebody else has the file locked. Trying each work alone would wait as long for every one.
    ToBegin(Error),
    /// It broke on the way.
    Later(Error),
}

impl Desk {
    fn serve(mut self, mut wanted: mpsc::Receiver<Box<dyn Work>>) {
        while let Some(first) = wanted.blocking_recv() {
            let more = std::iter::from_fn(|| wanted.try_recv().ok()).take(self.batch_max - 1);
            let batch = std::iter::once(first).chain(more).collect();
            self.commit(batch);
            self.folding.committed(&self.conn);
        }
    }

    fn commit(&mut self, mut batch: Vec<Box<dyn Work>>) {
        match self.transaction(&mut batch) {
            Ok(answers) => answer_all(batch, answers),
            Err(Failed::ToBegin(error)) => batch.into_iter().for_each(|work| work.answer(Err(error.clone()))),
            Err(Failed::Later(error)) if batch.len() == 1 => answer_all(batch, vec![Err(error)]),
            // One that is too large for what is left of the disk must not fail its neighbours.
            Err(Failed::Later(_)) => batch.into_iter().for_each(|work| self.commit(vec![work])),
        }
    }

    /// Runs all of them in one transaction. `Err`: nothing of it stands, and the journal's end is where it was.
    fn transaction(&mut self, batch: &mut [Box<dyn Work>]) -> Result<Vec<Result<(), Error>>, Failed> {
        match self.all_well(batch)? {
            Ok((head, pending)) => {
                self.head = head;
                self.marks.add(pending);
                return Ok(vec![Ok(()); batch.len()]);
            }
            // There is nobody beside it whose work must be saved.
            Err(error) if batch.len() == 1 => return Ok(vec![Err(error)]),
            Err(_) => {}
        }
        let begun = self.conn.transaction_with_behavior(TransactionBehavior::Immediate);
        let mut transaction = begun.map_err(|e| Failed::ToBegin(fault(e)))?;
        let (mut head, mut pending) = (self.head.clone(), Vec::new());
        let mut answers = Vec::with_capacity(batch.len());
        for work in batch {
            let book = (self.ord, &self.marks);
            answers.push(run_alone(&mut transaction, book, (&mut head, &mut pending), work.as_mut()).map_err(Failed::Later)?);
        }
        transaction.commit().map_err(|e| Failed::Later(fault(e)))?;
        self.head = head;
        self.marks.add(pending);
        Ok(answers)
    }

    /// Runs all of them with nothing between them, for a savepoint has the engine copy every page that it touches; the
    /// journal's end after it, and the marks that came. The inner `Err`: one failed so, and nothing stands.
    fn all_well(&mut self, batch: &mut [Box<dyn Work>]) -> Result<Result<Ended, Error>, Failed> {
        let begun = self.conn.transaction_with_behavior(TransactionBehavior::Immediate);
        let transaction = begun.map_err(|e| Failed::ToBegin(fault(e)))?;
        let (mut head, mut pending) = (self.head.clone(), Vec::new());
        for work in batch {
            if let Err(error) = work.run(&mut Txn::new(&transaction, (self.ord, &self.marks), (&mut head, &mut pending))) {
                return Ok(Err(error));
            }
        }
        match transaction.commit() {
            Ok(()) => Ok(Ok((head, pending))),
            Err(e) => Err(Failed::Later(fault(e))),
        }
    }
}

/// Runs one work in a savepoint of its own. The outer `Err`: the whole transaction is gone.
fn run_alone(
    transaction: &mut Transaction<'_>,
    book: (i64, &Marks),
    (head, pending): (&mut Head, &mut Vec<(i64, i64)>),
    work: &mut dyn Work,
) -> Result<Result<(), Error>, Error> {
    let savepoint = transaction.savepoint().map_err(fault)?;
    let (mut own, before) = (head.clone(), pending.len());
    let done = work.run(&mut Txn::new(&savepoint, book, (&mut own, &mut *pending)));
    // On a full disk the engine rolls back not the statement but everything. Going on here would have the works that are
    // left commit one by one, behind a journal's end that is not there.
    if savepoint.is_autocommit() {
        return Err(done.err().unwrap_or_else(|| Error::Unavailable("the transaction was rolled back".to_owned())));
    }
    if done.is_ok() {
        savepoint.commit().map_err(fault)?;
        *head = own;
    } else {
        pending.truncate(before);
    }
    Ok(done)
}

fn answer_all(batch: Vec<Box<dyn Work>>, answers: Vec<Result<(), Error>>) {
    for (work, answer) in batch.into_iter().zip(answers) {
        work.answer(answer);
    }
}
