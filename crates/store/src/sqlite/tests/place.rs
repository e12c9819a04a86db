//! A book that was put back from a copy, or moved, is told from one that was there all the time.

use std::fs;
use std::path::Path;

use super::*;
use crate::sqlite::Locked;
use domain::time::UtcMs;

/// Opens the book as the n-th process, and says when it was last restored.
fn start(dir: &Dir, n: u32) -> Option<UtcMs> {
    let book = Sqlite::open(dir.options(n, at(i64::from(n)))).unwrap();
    book.restored_at()
}

fn copy(from: &Path, to: &Path) {
    for file in fs::read_dir(from).unwrap().flatten() {
        fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}

fn place_of(dir: &Dir) -> std::path::PathBuf {
    dir.options(1, T0).path.parent().unwrap().to_owned()
}

#[tokio::test]
async fn a_book_that_starts_again_where_it_was_is_the_same() {
    let dir = Dir::new();
    assert_eq!((start(&dir, 1), start(&dir, 2), start(&dir, 3)), (None, None, None));
    // So is one whose directory has another name now.
    let elsewhere = Dir::new();
    for file in fs::read_dir(place_of(&dir)).unwrap().flatten() {
        fs::rename(file.path(), place_of(&elsewhere).join(file.file_name())).unwrap();
    }
    assert_eq!(start(&elsewhere, 4), None);
}

#[tokio::test]
async fn i7_a_copy_that_is_put_back_is_known_for_good() {
    let (dir, kept, other) = (Dir::new(), Dir::new(), Dir::new());
    start(&dir, 1);
    copy(&place_of(&dir), &place_of(&kept));
    start(&dir, 2);
    copy(&place_of(&kept), &place_of(&other));
    assert_eq!(start(&other, 3), Some(at(3)), "another file");
    assert_eq!(start(&other, 4), Some(at(3)), "it is said once, and kept");
    // Written over the file that was there: the start that is noted beside it is a later one.
    let book = dir.options(1, T0).path;
    fs::copy(kept.options(1, T0).path, &book).unwrap();
    assert_eq!(start(&dir, 5), Some(at(5)), "the same file");
    // Without what stands beside it.
    fs::remove_file(place_of(&dir).join("book.db.start")).unwrap();
    assert_eq!(start(&dir, 6), Some(at(6)));
}

#[tokio::test]
async fn a_restore_is_in_the_journal_and_a_person_can_say_so() {
    let dir = Dir::new();
    start(&dir, 1);
    let book = Sqlite::open_locked(Locked::take(&dir.options(2, T0).path).unwrap().restored(), dir.options(2, at(2))).unwrap();
    assert_eq!(book.restored_at(), Some(at(2)));
    let entries = book.journal_after(None, 100).await.unwrap();
    let told = entries.iter().find(|entry| entry.kind == "book.restored").unwrap();
    assert_eq!(told.stream, *book.stream());
    drop(book);
    assert_eq!(start(&dir, 3), Some(at(2)));
}

#[tokio::test]
async fn a_crash_while_a_stream_begins_is_no_restore() {
    let dir = Dir::new();
    start(&dir, 1);
    start(&dir, 2);
    // Both starts are noted while the second begins; whichever the book has then is its last.
    let (first, second) = (dir.options(1, T0).stream, dir.options(2, T0).stream);
    fs::write(place_of(&dir).join("book.db.start"), format!("{}\n{}\n", first.as_str(), second.as_str())).unwrap();
    assert_eq!(start(&dir, 3), None);
}
