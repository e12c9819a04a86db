//! The contract as one suite, run on every engine: a case is named after what it proves, and each engine has its own test
//! of it. `differential` runs random sequences on two engines side by side.

mod accepting;
mod committing;
mod differential;
pub(crate) mod fixture;
mod journal;
mod keeping;
mod leasing;
mod ops;
mod paging;
mod reading;
mod verdicts;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use domain::ids::StreamId;
use domain::time::UtcMs;

use self::fixture::T0;
use crate::Store;
use crate::memory::Memory;
use crate::sqlite::{Options, Sqlite};

/// An engine under test: a book, and process starts over it.
trait Harness {
    fn store(&self) -> Arc<dyn Store>;
    /// The process ends, and the next one starts over the same book at `now`.
    fn restart(&mut self, now: UtcMs);
}

fn stream(n: u32) -> StreamId {
    StreamId::parse(&format!("str_{n}")).unwrap()
}

/// A directory of its own, removed with it.
pub(crate) struct Dir(PathBuf);

impl Dir {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("oncebook-store-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    /// How the book in it is opened for the `n`th time.
    pub(crate) fn options(&self, n: u32, now: UtcMs) -> Options {
        Options {
            path: self.0.join("book.db"),
            now,
            stream: stream(n),
            new_secret: [7; 32],
            batch_max: 16,
            // The oracle's name: in the differential test the journals are to be equal to the last hash.
            program: "memory".to_owned(),
        }
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

struct OnSqlite {
    // Before the directory: the file is closed first.
    book: Option<Arc<Sqlite>>,
    dir: Dir,
    starts: u32,
}

impl OnSqlite {
    fn new() -> Self {
        let dir = Dir::new();
        let book = Sqlite::open(dir.options(1, T0)).unwrap();
        Self { book: Some(Arc::new(book)), dir, starts: 1 }
    }
}

impl Harness for OnSqlite {
    fn store(&self) -> Arc<dyn Store> {
        let book: Arc<Sqlite> = Arc::clone(self.book.as_ref().unwrap());
        book
    }

    fn restart(&mut self, now: UtcMs) {
        let book = self.book.take().unwrap();
        assert_eq!(Arc::strong_count(&book), 1, "the case lets go of the store before the process ends");
        drop(book);
        self.starts += 1;
        self.book = Some(Arc::new(Sqlite::open(self.dir.options(self.starts, now)).unwrap()));
    }
}

struct OnMemory {
    book: Arc<Memory>,
    starts: u32,
}

impl OnMemory {
    fn new() -> Self {
        Self { book: Arc::new(Memory::new(T0, stream(1), [7; 32])), starts: 1 }
    }
}

impl Harness for OnMemory {
    fn store(&self) -> Arc<dyn Store> {
        let book: Arc<Memory> = Arc::clone(&self.book);
        book
    }

    fn restart(&mut self, now: UtcMs) {
        self.starts += 1;
        self.book = Arc::new(self.book.restart(now, stream(self.starts)));
    }
}

macro_rules! suite {
    ($($module:ident { $($case:ident,)* })*) => {
        mod sqlite {
            $(mod $module { $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $case() {
                    $crate::contract::$module::$case(&mut $crate::contract::OnSqlite::new()).await;
                }
            )* })*
        }
        mod memory {
            $(mod $module { $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $case() {
                    $crate::contract::$module::$case(&mut $crate::contract::OnMemory::new()).await;
                }
            )* })*
        }
    };
}

suite! {
    accepting {
        i1_a_new_enquiry_is_entered_with_its_delivery_its_body_and_work_due_at_once,
        i2_of_fifty_concurrent_deliveries_one_is_accepted_and_the_rest_name_it,
        files_are_kept_with_the_enquiry_that_they_came_with_and_once,
        i12_a_file_of_a_batch_belongs_to_the_enquiry_that_names_it,
        a_blob_is_found_by_the_enquiry_it_belongs_to,
        repairs_and_doubts_are_on_record,
        a_batch_gives_each_item_its_own_verdict_and_arrives_once,
        what_is_set_aside_is_kept_whole_with_the_reason,
        a_delivery_id_is_entered_once,
        a_delivery_let_in_again_carries_nothing_of_its_old_verdict,
    }
    verdicts {
        i2_a_redelivery_names_the_first_run_delivery_and_time_and_does_nothing,
        i4_other_content_is_held_under_the_next_variant_with_a_review_item,
        i4_a_revision_makes_its_content_known_under_the_first,
        i3_a_look_alike_is_linked_and_held_inside_the_window_only,
        a_copy_under_a_weak_key_is_suppressed_inside_the_window_and_a_look_alike_after_it,
        a_person_undoes_a_suppression_whatever_the_verdict_would_be,
        i8_an_event_known_under_an_earlier_rule_is_a_redelivery_or_a_conflict_there,
        i2_what_was_told_apart_under_an_earlier_rule_is_entered_under_the_current_one,
    }
    leasing {
        the_oldest_due_goes_first_over_enquiries_and_effects,
        no_work_is_held_by_two_live_leases_and_each_lease_has_a_higher_fence,
        a_lease_on_an_enquiry_ends_with_a_commit_unless_that_keeps_it,
        the_next_due_counts_what_falls_due_and_leases_that_run_out,
        a_paused_targets_effects_are_not_handed_out_and_go_on_oldest_first,
        of_a_bounded_target_so_many_are_handed_out_oldest_first,
        that_a_target_is_away_outlives_the_process_and_a_pause,
        a_restart_ends_every_lease_and_an_intent_is_handed_out_again,
        concurrent_leases_share_nothing,
        who_brings_or_plans_work_may_take_it_at_once,
    }
    committing {
        i5_a_step_is_written_whole,
        a_stale_version_or_fence_writes_nothing_of_the_step,
        any_refusal_takes_back_everything_before_it,
        keep_lease_goes_on_under_the_same_fence,
        a_lock_is_one_effects_and_is_given_back,
        a_review_item_is_decided_once,
        a_plan_is_made_once,
        nothing_is_filed_under_an_enquiry_that_is_not_in_the_book,
    }
    journal {
        i11_the_chain_is_whole_over_restarts_and_blobs,
        i11_a_refused_step_leaves_no_gap,
        a_note_moves_the_head,
        the_journal_is_read_in_pieces_over_all_streams,
        every_process_but_this_one_is_dead_since_this_start,
    }
    reading {
        a_dossier_is_complete_and_in_order,
        i11_every_name_leads_to_the_enquiry,
        a_record_that_two_enquiries_share_leads_to_both,
        unknown_names_lead_nowhere,
    }
    paging {
        every_list_gives_every_row_once,
        pages_stay_where_they_were_while_rows_are_added,
        lists_are_filtered,
        a_cursor_of_another_list_is_refused,
    }
    keeping {
        rules_are_kept_in_order_of_acceptance,
        targets_are_kept_by_name,
        what_is_kept_under_a_name_is_compared_and_set,
        the_ring_of_the_refused_is_bounded_by_count_and_age,
        the_ring_is_listed_newest_first_page_by_page,
        pruning_drops_only_bodies_of_settled_enquiries,
        c006_a_redelivery_is_known_for_good_after_pruning_too,
        a_batch_keeps_its_body_until_all_of_it_is_settled,
        a_body_let_in_from_quarantine_ages_with_its_enquiry,
        i12_a_batch_let_in_in_part_ages_with_all_of_its_enquiries,
        pruning_takes_at_most_500_a_call,
        a_ping_is_answered,
    }
}
