//! One manipulation a test: a good journal of three streams, one thing changed, a fault that names the place.
//!
//! The streams overlap (`str_m` goes on after `str_a` began) and begin in another order than their ids sort.

use domain::ids::EnquiryId;
use domain::time::UtcMs;

use super::*;
use crate::chain::seal;
use crate::entry::Draft;
use crate::facts::Facts;

type Change = fn(&mut Entry);

struct Journal {
    entries: Vec<Entry>,
    blobs: Vec<(Digest, Blob)>,
    kept: Vec<Head>,
}

impl Journal {
    fn good() -> Self {
        let mut journal = Self { entries: vec![], blobs: vec![], kept: vec![] };
        let open = |stream: &str, heads: &[&Head]| {
            let genesis = Head::genesis(StreamId::parse(stream).unwrap());
            seal(&genesis, Draft::stream_began(UtcMs(1_000), "serve", heads.iter().copied()))
        };
        let (began, mut m) = open("str_m", &[]);
        journal.entries.push(began);
        for n in 1..=3 {
            m = journal.write(&m, n);
        }
        let (began, mut a) = open("str_a", &[&m]);
        journal.entries.push(began);
        for n in 4..=6 {
            a = journal.write(&a, n);
            m = journal.write(&m, n + 10);
        }
        let (gone, _) = journal.blobs.remove(0);
        let (erasure, a) = seal(&a, Draft::blob_erased(UtcMs(2_000), "retention", "retention of 90 days", vec![gone]));
        journal.entries.push(erasure);
        let (began, mut z) = open("str_z", &[&m, &a]);
        journal.entries.push(began);
        for n in 20..=22 {
            z = journal.write(&z, n);
        }
        journal.entries.sort_by(|x, y| (&x.stream, x.seq).cmp(&(&y.stream, y.seq)));
        journal
    }

    /// One entry with a blob of its own.
    fn write(&mut self, head: &Head, n: u8) -> Head {
        let blob = Blob { nonce: [n; 32], bytes: vec![n; 5] };
        let draft = Draft {
            at: UtcMs(1_000 + i64::from(n)),
            enquiry: EnquiryId::parse("enq_1").filter(|_| n.is_multiple_of(2)),
            kind: "delivery.received".to_owned(),
            actor: "intake".to_owned(),
            facts: Facts::new().with("n", n),
            blobs: vec![blob.digest()],
        };
        self.blobs.push((blob.digest(), blob));
        let (entry, head) = seal(head, draft);
        self.entries.push(entry);
        head
    }

    fn index(&self, stream: &str, seq: u64) -> usize {
        self.entries.iter().position(|entry| entry.stream.as_str() == stream && entry.seq == seq).unwrap()
    }

    fn remove(&mut self, stream: &str, seq: u64) {
        self.entries.remove(self.index(stream, seq));
    }

    fn report(&self) -> Report {
        let mut walk = Walk::new(self.kept.clone());
        for entry in &self.entries {
            walk.entry(entry);
        }
        for (digest, blob) in &self.blobs {
            walk.blob(*digest, Some(blob));
        }
        walk.finish()
    }

    /// The journal has a fault at this place that says this.
    #[track_caller]
    fn expect(&self, stream: &str, seq: u64, says: &str) {
        let faults = self.report().faults;
        let named = faults.iter().any(|fault| fault.stream.as_str() == stream && fault.seq == seq && fault.what.contains(says));
        assert!(named, "no fault at {stream} {seq} that says {says:?}, but {faults:#?}");
    }

    /// Makes every hash of a stream right again from a place on, as a forger would.
    fn seal_again(&mut self, stream: &str, from: u64) {
        let mut prev = None;
        for entry in self.entries.iter_mut().filter(|entry| entry.stream.as_str() == stream && entry.seq >= from) {
            entry.prev = prev.unwrap_or(entry.prev);
            entry.hash = entry.computed_hash();
            prev = Some(entry.hash);
        }
    }
}

#[test]
fn i11_the_untouched_journal_is_whole() {
    let mut journal = Journal::good();
    let report = journal.report();
    assert_eq!(report.faults, []);
    assert!(report.is_whole());
    assert_eq!((report.entries, report.streams, report.blobs_checked, report.blobs_erased), (16, 3, 11, 1));
    let heads: Vec<_> = report.heads.iter().map(|head| (head.stream.as_str(), head.seq)).collect();
    assert_eq!(heads, [("str_a", 5), ("str_m", 7), ("str_z", 4)]);

    journal.kept = report.heads;
    journal.kept.push(journal.entries[journal.index("str_m", 3)].head());
    journal.kept.push(Head::genesis(StreamId::parse("str_never_used").unwrap()));
    assert!(journal.report().is_whole());
    journal.entries.sort_by(|x, y| (&y.stream, x.seq).cmp(&(&x.stream, y.seq)));
    assert!(journal.report().is_whole(), "the order of streams does not matter");
}

#[test]
fn i11_a_changed_field_shows_in_every_entry() {
    let changes: [(&str, Change); 9] = [
        ("at", |e| e.at = e.at.plus(1)),
        ("enquiry", |e| e.enquiry = if e.enquiry.is_some() { None } else { EnquiryId::parse("enq_2") }),
        ("kind", |e| e.kind.push('x')),
        ("actor", |e| e.actor.push('x')),
        ("facts", |e| e.facts = e.facts.clone().with("more", 1)),
        ("a blob more", |e| e.blobs.push(Digest::sha256(b"x"))),
        ("no blobs", |e| {
            if e.blobs.pop().is_none() {
                e.actor.clear();
            }
        }),
        ("prev", |e| e.prev = Digest::ZERO),
        ("hash", |e| e.hash = Digest::ZERO),
    ];
    let good = Journal::good();
    for index in 0..good.entries.len() {
        for (name, change) in changes {
            let mut journal = Journal::good();
            change(&mut journal.entries[index]);
            let (stream, seq) = (good.entries[index].stream.as_str(), good.entries[index].seq);
            journal.expect(stream, seq, "fields do not give its hash");
            assert!(!journal.report().is_whole(), "{name}");
        }
    }
}

#[test]
fn i11_a_changed_place_shows() {
    let mut journal = Journal::good();
    let index = journal.index("str_a", 3);
    journal.entries[index].seq = 9;
    journal.expect("str_a", 9, "fields do not give its hash");
    journal.expect("str_a", 3, "missing");
}

#[test]
fn i11_a_changed_entry_with_its_hash_made_right_breaks_the_next() {
    let mut journal = Journal::good();
    let index = journal.index("str_m", 3);
    journal.entries[index].actor = "nobody".to_owned();
    journal.entries[index].hash = journal.entries[index].computed_hash();
    journal.expect("str_m", 4, "does not continue");
}

#[test]
fn i11_a_removed_entry_shows() {
    for (stream, seq) in [("str_a", 2), ("str_m", 4), ("str_m", 6), ("str_z", 3)] {
        let mut journal = Journal::good();
        journal.remove(stream, seq);
        journal.expect(stream, seq, "missing");
    }
}

#[test]
fn i11_a_removed_first_entry_shows() {
    for stream in ["str_a", "str_m", "str_z"] {
        let mut journal = Journal::good();
        journal.remove(stream, 1);
        journal.expect(stream, 1, "missing");
    }
}

#[test]
fn i11_entries_numbered_anew_after_a_removal_show() {
    let mut journal = Journal::good();
    journal.remove("str_m", 1);
    journal.entries.iter_mut().filter(|entry| entry.stream.as_str() == "str_m").for_each(|entry| entry.seq -= 1);
    journal.seal_again("str_m", 1);
    journal.expect("str_m", 1, "does not continue");
    journal.expect("str_m", 1, "not of kind stream.began");
    journal.expect("str_m", 4, "rewritten");
}

#[test]
fn i11_a_reordered_pair_shows() {
    let mut journal = Journal::good();
    let index = journal.index("str_m", 3);
    journal.entries.swap(index, index + 1);
    journal.expect("str_m", 3, "missing");
    journal.expect("str_m", 3, "reordered");
}

#[test]
fn i11_an_entry_that_stands_twice_shows() {
    let mut journal = Journal::good();
    let index = journal.index("str_m", 3);
    journal.entries.insert(index, journal.entries[index].clone());
    journal.expect("str_m", 3, "twice");
}

#[test]
fn i11_a_swapped_stream_shows() {
    let mut journal = Journal::good();
    let (a, m) = (journal.index("str_a", 2), journal.index("str_m", 2));
    let (to_a, to_m) = (journal.entries[a].stream.clone(), journal.entries[m].stream.clone());
    journal.entries[a].stream = to_m;
    journal.entries[m].stream = to_a;
    journal.expect("str_m", 2, "fields do not give its hash");
    journal.expect("str_a", 2, "fields do not give its hash");
    for index in [a, m] {
        journal.entries[index].hash = journal.entries[index].computed_hash();
    }
    journal.entries.swap(a, m);
    journal.expect("str_m", 2, "does not continue");
    journal.expect("str_a", 2, "does not continue");
}

#[test]
fn i11_a_truncated_stream_shows_by_a_kept_head() {
    let mut journal = Journal::good();
    let kept = journal.report().heads;
    journal.remove("str_z", 4);
    journal.remove("str_z", 3);
    assert!(journal.report().is_whole(), "the newest stream's tail has no other witness");
    journal.kept = kept;
    journal.expect("str_z", 3, "ends at entry 2, but a head that was kept says that it had reached entry 4");
}

#[test]
fn i11_a_rewritten_stream_shows_by_a_kept_head() {
    let mut journal = Journal::good();
    let kept = journal.report().heads;
    let index = journal.index("str_z", 3);
    journal.entries[index].actor = "nobody".to_owned();
    journal.seal_again("str_z", 3);
    assert!(journal.report().is_whole(), "the newest stream's tail has no other witness");
    journal.kept = kept;
    journal.expect("str_z", 4, "not the one that a head that was kept gives");
}

#[test]
fn i11_a_kept_head_of_an_entry_in_a_gap_shows() {
    let mut journal = Journal::good();
    journal.kept = vec![journal.entries[journal.index("str_z", 3)].head()];
    journal.remove("str_z", 3);
    journal.expect("str_z", 3, "missing, but a head that was kept names it");
}

#[test]
fn i11_an_earlier_streams_missing_tail_shows_by_a_later_beginning() {
    let mut journal = Journal::good();
    journal.remove("str_m", 7);
    journal.expect("str_m", 7, "the first entry of str_z says that it had reached entry 7");
    let mut journal = Journal::good();
    journal.remove("str_a", 5);
    journal.expect("str_a", 5, "the first entry of str_z");
}

#[test]
fn i11_an_earlier_stream_rewritten_shows_by_a_later_beginning() {
    let mut journal = Journal::good();
    let index = journal.index("str_m", 4);
    journal.entries[index].actor = "nobody".to_owned();
    journal.seal_again("str_m", 4);
    journal.expect("str_m", 4, "the first entry of str_a gives");
    journal.expect("str_m", 7, "the first entry of str_z gives");
}

#[test]
fn i11_a_whole_earlier_stream_missing_shows() {
    for stream in ["str_m", "str_a"] {
        let mut journal = Journal::good();
        journal.entries.retain(|entry| entry.stream.as_str() != stream);
        journal.expect(stream, 1, "the whole stream is missing");
    }
}

#[test]
fn i11_a_beginning_that_lists_no_heads_shows() {
    for facts in [Facts::new(), Facts::new().with("heads", "none"), Facts::new().with("heads", vec!["str_m:1:ff"])] {
        let mut journal = Journal::good();
        let index = journal.index("str_z", 1);
        journal.entries[index].facts = facts;
        journal.seal_again("str_z", 1);
        journal.expect("str_z", 1, "does not list the heads");
    }
}

#[test]
fn i11_a_changed_blob_shows() {
    let changes: [fn(&mut Blob); 3] = [|b| b.bytes[0] ^= 1, |b| b.nonce[31] ^= 1, |b| b.bytes.clear()];
    for change in changes {
        let mut journal = Journal::good();
        // The first blob is the erased one's successor: entry 3 of str_m.
        change(&mut journal.blobs[0].1);
        journal.expect("str_m", 3, "its bytes or its nonce were changed");
    }
}

#[test]
fn i11_a_missing_blob_that_nobody_erased_shows() {
    let mut journal = Journal::good();
    let (digest, _) = journal.blobs.remove(0);
    journal.expect("str_m", 3, &format!("blob {digest} is missing"));
    assert_eq!(journal.report().faults.len(), 1);

    let mut walk = Walk::new(vec![]);
    journal.entries.iter().for_each(|entry| walk.entry(entry));
    journal.blobs.iter().for_each(|(digest, blob)| walk.blob(*digest, Some(blob)));
    walk.blob(digest, None);
    assert_eq!(walk.finish(), journal.report(), "to be told of an absence is the same as to be told nothing");
}

#[test]
fn i12_an_erased_blob_that_is_still_there_shows() {
    let mut journal = Journal::good();
    let blob = Blob { nonce: [1; 32], bytes: vec![1; 5] };
    journal.blobs.push((blob.digest(), blob));
    journal.expect("str_m", 2, "still there, though entry 5 of str_a says that it was erased");
}

#[test]
fn a_fault_reads_as_a_sentence_with_its_place() {
    let fault = Fault { stream: StreamId::parse("str_a").unwrap(), seq: 3, what: "missing".to_owned() };
    assert_eq!(fault.to_string(), "str_a, entry 3: missing");
}
