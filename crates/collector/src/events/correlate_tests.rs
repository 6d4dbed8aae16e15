//! Counting and combining, against a model that remembers everything and counts from the beginning each time.

use proptest::prelude::*;

use super::correlate::{Correlator, Limits};
use super::said::{Involved, Reason, Said, Series};

const LIMITS: Limits = Limits { similar: 3, window: 60, object: (4, 10), all: (9, 3), memory: 1_000 };

fn said(object: u8, message: u8) -> Said {
    let name = format!("o{object}");
    let about = Involved { uid: name.clone(), name, ..Involved::default() };
    Said::new(about, String::new(), Reason::Blocked, &format!("m{message}"))
}

/// All messages with their times, and those that were written.
#[derive(Default)]
struct Naive {
    past: Vec<(i64, u8, u8)>,
    written: Vec<(i64, u8)>,
}

impl Naive {
    /// For each message so far, whether it was told apart from similar ones.
    fn apart(&self) -> Vec<bool> {
        let mut apart = Vec::new();
        for (place, (_, object, message)) in self.past.iter().enumerate() {
            let mine: Vec<&(i64, u8, u8)> =
                self.past[..=place].iter().filter(|one| one.1 == *object).collect();
            // The last stretch without a gap.
            let gap = mine.windows(2).rposition(|two| two[1].0 - two[0].0 > LIMITS.window);
            let stretch = &mine[gap.map_or(0, |gap| gap + 1)..];
            let mut first: Vec<u8> = Vec::new();
            for one in stretch {
                if !first.contains(&one.2) && first.len() < LIMITS.similar {
                    first.push(one.2);
                }
            }
            apart.push(first.contains(message));
        }
        apart
    }

    /// Whether one more fits after those that were written at these times, gone through second by second.
    fn fits(times: &[i64], (burst, refill): (u32, i64), now: i64) -> bool {
        let full = i64::from(burst) * refill;
        let (mut room, mut times) = (full, times.iter().peekable());
        for second in 0..=now {
            room = full.min(room + 1);
            while times.next_if(|time| **time == second).is_some() {
                room -= refill;
            }
        }
        room >= refill
    }

    fn hear(&mut self, now: i64, object: u8, message: u8) -> Option<(u32, i64, i64, String)> {
        self.past.push((now, object, message));
        let apart = self.apart();
        let told_apart = *apart.last().unwrap();
        let same: Vec<i64> = self
            .past
            .iter()
            .zip(&apart)
            .filter(|((_, o, m), a)| *o == object && **a == told_apart && (!told_apart || *m == message))
            .map(|((at, ..), _)| *at)
            .collect();
        let of_object = |one: &&(i64, u8)| one.1 == object;
        let mine: Vec<i64> = self.written.iter().filter(of_object).map(|one| one.0).collect();
        let all: Vec<i64> = self.written.iter().map(|one| one.0).collect();
        if !Naive::fits(&mine, LIMITS.object, now) || !Naive::fits(&all, LIMITS.all, now) {
            return None;
        }
        self.written.push((now, object));
        let text = format!("m{message}");
        let text = if told_apart { text } else { format!("(combined from similar events): {text}") };
        Some((u32::try_from(same.len()).unwrap(), same[0], now, text))
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Equal messages are counted, similar ones are combined, and both limits hold.
    #[test]
    fn it_counts_as_the_model_does(sayings in prop::collection::vec((0_i64..40, 0_u8..3, 0_u8..6), 1..50)) {
        let (mut correlator, mut naive, mut now) = (Correlator::new(LIMITS), Naive::default(), 0);
        let mut written: Vec<u64> = Vec::new();
        for (pause, object, message) in sayings {
            // Mostly at once, sometimes much later.
            now += if pause < 30 { pause / 10 } else { pause * 2 };
            let told = correlator.hear(&said(object, message), now);
            let expected = naive.hear(now, object, message);
            let found = told.as_ref().map(|telling| {
                let Series { count, first, last, message, .. } = &telling.series;
                (*count, *first, *last, message.clone())
            });
            prop_assert_eq!(found, expected);
            // What is new was never written; everything else was.
            if let Some(telling) = told {
                prop_assert_eq!(telling.new, !written.contains(&telling.series.id));
                written.push(telling.series.id);
            }
        }
    }
}

#[test]
fn a_flood_is_counted_and_not_written() {
    let mut correlator = Correlator::new(Limits::default());
    let mut written = 0;
    for _ in 0..10_000 {
        written += usize::from(correlator.hear(&said(0, 0), 5).is_some());
    }
    assert_eq!(written, 25);
    let later = correlator.hear(&said(0, 0), 5 + 300).unwrap();
    assert_eq!((later.series.count, later.series.first, later.new), (10_001, 5, false));
    for object in 1..=200 {
        written += usize::from(correlator.hear(&said(object, 0), 5 + 300).is_some());
    }
    assert_eq!(written, 25 + 99);
}

#[test]
fn an_event_has_a_name_that_may_be_one() {
    let series = Series { id: 7, first: 0, last: 0, count: 1, message: "m".into() };
    let named = |name: &str| {
        let about = Involved { name: name.into(), kind: "ClusterRole".into(), ..Involved::default() };
        series.name(&Said::new(about, String::new(), Reason::Held, "m"))
    };
    assert_eq!(named("web-1"), "web-1.0000000000000007");
    assert_eq!(named("system:admin"), "clusterrole.0000000000000007");
    assert_eq!(named(&"x".repeat(253)), format!("{}.0000000000000007", "x".repeat(230)));
}
