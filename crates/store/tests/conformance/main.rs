//! One suite for every engine: what [`sexton_store::Engine`] promises, told by what can be seen from outside.
//!
//! A scenario gets an empty engine and must not know which one it is.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, clippy::print_stdout)]

mod commits;
mod feeds;
mod model;
mod races;
mod reads;
mod terms;
mod terms_model;
mod together;
mod world;

/// Every scenario with every engine.
macro_rules! scenarios {
    ($($module:ident :: $name:ident),* $(,)?) => {
        mod memory {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                crate::$module::$name(crate::world::World::memory().engine()).await;
            })*
        }
        mod embedded {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                let world = crate::world::World::embedded();
                crate::$module::$name(world.engine()).await;
            })*
        }
    };
}

scenarios![
    commits::guard_at_a_revision,
    commits::guard_of_absence,
    commits::guard_of_an_empty_range,
    commits::a_refused_commit_writes_nothing,
    commits::the_first_failing_guard_is_named,
    commits::guards_see_the_state_before_the_commit,
    commits::operations_get_revisions_in_order,
    commits::one_key_may_change_several_times_in_a_commit,
    commits::deleting_what_is_absent_has_no_revision,
    commits::an_empty_commit_speaks_of_the_head,
    commits::odd_keys_and_values_survive,
    commits::after_close_everything_is_refused,
    reads::ranges_are_half_open_and_ordered,
    reads::pages_belong_to_one_snapshot,
    reads::older_revisions_can_be_read,
    reads::compaction_forgets_the_past_only,
    reads::the_future_is_not_readable,
    reads::a_read_after_a_commit_sees_it,
    feeds::every_change_once_and_in_order_from_any_revision,
    feeds::a_feed_waits_for_what_comes,
    feeds::a_feed_can_be_resumed,
    feeds::a_feed_shows_its_range_only,
    feeds::changes_carry_what_was_there_before,
    feeds::a_dropped_wait_loses_nothing,
    feeds::a_slow_reader_is_told_when_it_is_too_late,
    feeds::a_slow_reader_blocks_nobody,
    feeds::a_feed_ends_when_the_engine_is_closed,
    terms::a_term_is_used_while_a_value_carries_it,
    terms::replacing_and_removing_drop_terms,
    terms::keys_of_a_term_come_in_order,
    terms::some_users_of_a_term_are_excused,
    terms::guards_see_the_terms_of_earlier_transactions,
    terms::a_refused_commit_adds_no_terms,
    together::each_stands_or_falls_alone,
    together::later_ones_see_what_earlier_ones_wrote,
    together::who_asks_first_comes_first,
    together::nothing_comes_in_between,
    together::none_and_nothing,
    races::of_many_updates_at_one_revision_exactly_one_wins,
    races::of_many_creates_exactly_one_wins,
    races::no_increment_is_lost,
    races::a_reader_never_sees_half_a_commit,
];
