//! Those who read beside the writer: how many they are, and what they leave alone.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::super::READERS;
use super::*;

fn log_of(path: &Path) -> PathBuf {
    path.with_file_name(format!("{}-wal", path.file_name().unwrap().to_str().unwrap()))
}

/// Without its file, a book's log is all there is of it: a new book would write over it and know no delivery, and even who
/// only reads has the engine throw it away.
#[test]
fn i1_where_only_the_log_of_a_book_lies_nobody_opens_it() {
    let dir = Dir::new();
    let path = dir.options(1, T0).path;
    let (log, link) = (log_of(&path), path.with_file_name("link.db"));
    std::fs::write(&log, "what a crash left").unwrap();
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let is_told = |opened| {
        let error = refused(opened);
        assert!(matches!(&error, Error::Refused(why) if why.contains("missing or empty")), "{error}");
        assert_eq!(std::fs::read(&log).unwrap(), b"what a crash left");
    };
    for _ in ["no file", "an empty one"] {
        is_told(Sqlite::open(dir.options(1, T0)));
        is_told(Sqlite::open_to_read(&path));
        std::fs::write(&path, "").unwrap();
    }
    is_told(Sqlite::open_to_read(&link));
}

/// A reader that is open already asks again before its next connection: the file may have been emptied since.
#[tokio::test]
async fn i1_a_file_emptied_under_a_reader_keeps_its_log() {
    let dir = Dir::new();
    let path = dir.options(1, T0).path;
    let book = open(&dir);
    enter(&*book, post("1", "77", "a")).await;
    let reader = Sqlite::open_to_read(&path).unwrap();
    reader.readers.idle().clear();
    let kept = std::fs::read(log_of(&path)).unwrap();
    let file = std::fs::read(&path).unwrap();
    std::fs::write(&path, "").unwrap();
    let error = reader.targets().await.err().unwrap();
    assert!(matches!(&error, Error::Refused(why) if why.contains("missing or empty")), "{error}");
    assert!(!kept.is_empty() && std::fs::read(log_of(&path)).unwrap() == kept);
    // The writer ends over the file it began with.
    std::fs::write(&path, file).unwrap();
}

/// What a crash or a copy leaves: the file and its log, without the index of the log (-shm). A reader makes that anew, sees
/// everything, and leaves both as they were.
#[tokio::test]
async fn i1_a_reader_of_a_log_without_its_index_sees_all_and_changes_nothing() {
    let (dir, copy) = (Dir::new(), Dir::new());
    let (path, copied) = (dir.options(1, T0).path, copy.options(1, T0).path);
    let book = open(&dir);
    let id = enter(&*book, post("1", "77", "a")).await;
    let files = [(&path, &copied), (&log_of(&path), &log_of(&copied))];
    for (from, to) in files {
        std::fs::copy(from, to).unwrap();
    }
    let before = files.map(|(_, to)| std::fs::read(to).unwrap());
    assert!(before.iter().all(|bytes| !bytes.is_empty()), "the enquiry stands in the log");
    let reader = Sqlite::open_to_read(&copied).unwrap();
    assert!(reader.dossier(&id).await.unwrap().is_some());
    drop(reader);
    assert_eq!(files.map(|(_, to)| std::fs::read(to).unwrap()), before);
    let again = Sqlite::open(Options { path: copied, ..dir.options(2, at(1)) }).unwrap();
    assert!(again.dossier(&id).await.unwrap().is_some());
}

/// Counts, not times: while some are held there are never more, and afterwards no more connections than that stay open.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_more_read_at_once_than_there_are_places_and_the_rest_wait_in_line() {
    let dir = Dir::new();
    let book = open(&dir);
    let (reading, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (begun, mut begins) = tokio::sync::mpsc::unbounded_channel();
    let (go, gate) = mpsc::channel::<()>();
    let gate = Arc::new(std::sync::Mutex::new(gate));
    let mut jobs = JoinSet::new();
    for n in 0..READERS * 5 {
        let (book, reading, most) = (Arc::clone(&book), Arc::clone(&reading), Arc::clone(&most));
        let (begun, gate) = (begun.clone(), Arc::clone(&gate));
        let (asked, has_asked) = tokio::sync::oneshot::channel();
        jobs.spawn(async move {
            let read = book.read(move |_| {
                most.fetch_max(reading.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                begun.send(n).unwrap();
                // One word lets one go on.
                gate.lock().unwrap().recv().unwrap();
                reading.fetch_sub(1, Ordering::SeqCst);
                Ok(())
            });
            let mut read = std::pin::pin!(read);
            // Asked once, in this order, before the next comes.
            assert!(poll_once(read.as_mut()).await.is_none());
            asked.send(()).unwrap();
            read.await.unwrap();
        });
        has_asked.await.unwrap();
    }
    let mut order = Vec::new();
    for _ in 0..READERS {
        order.push(begins.recv().await.unwrap());
    }
    assert!(begins.try_recv().is_err(), "nobody else has begun");
    for _ in 0..READERS * 4 {
        go.send(()).unwrap();
        order.push(begins.recv().await.unwrap());
    }
    (0..READERS).for_each(|_| go.send(()).unwrap());
    drop(jobs.join_all().await);
    assert_eq!(most.load(Ordering::SeqCst), READERS);
    assert_eq!(book.readers.idle().len(), READERS, "each connection is kept, and is used again");
    assert!(order[READERS..].is_sorted(), "in the order they asked: {order:?}");
}

/// Polls once; what was ready then.
async fn poll_once<F: Future>(mut future: std::pin::Pin<&mut F>) -> Option<F::Output> {
    std::future::poll_fn(move |context| {
        std::task::Poll::Ready(match future.as_mut().poll(context) {
            std::task::Poll::Ready(done) => Some(done),
            std::task::Poll::Pending => None,
        })
    })
    .await
}
