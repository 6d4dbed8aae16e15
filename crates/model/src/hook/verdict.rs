//! The answer of a method: the last line that is a verdict, or nothing, which means done.
//!
//! It must not know exit codes or HTTP, nor what follows from an answer.

use std::time::Duration;

use serde::Deserialize;

use crate::text::{cut, tame};
use crate::time;

/// Reasons and names are for people: longer ones are cut.
const MAX_REASON: usize = 1 << 10;
/// What a method leaves behind; longer is cut.
const MAX_OUTPUT: usize = 4 << 10;
/// No answer makes the caller wait longer than this before asking again, in seconds.
const MAX_AFTER: f64 = 86_400.0;
const VERDICTS: &str = "done, gone, inProgress, blocked, veto, retry, failed";

/// What a method answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is done.
    Done {
        /// What is to be remembered of it.
        output: Option<String>,
    },
    /// There was nothing to do it to.
    Gone,
    /// It was begun and goes on without us.
    InProgress {
        /// When to ask again.
        after: Option<Duration>,
    },
    /// Something else has to go first.
    Blocked {
        /// What that is.
        by: Option<String>,
        /// Why.
        reason: String,
    },
    /// It must not happen.
    Veto {
        /// Why.
        reason: String,
        /// Until then, in seconds since 1970; without it, until a user decides.
        until: Option<i64>,
    },
    /// It did not work now.
    Retry {
        /// When to try again.
        after: Option<Duration>,
        /// Why.
        reason: String,
    },
    /// It did not work.
    Failed {
        /// Why.
        reason: String,
    },
}

/// Why an answer says nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadVerdict {
    /// There are words, and none of them is a verdict.
    #[error(
        "no line of the answer is a verdict such as {{\"verdict\":\"done\"}}; it says {}", shown(.0)
    )]
    Missing(String),
    /// The line with the verdict cannot be understood.
    #[error("the verdict {} cannot be understood: {why}", shown(.line))]
    Strange {
        /// The line.
        line: String,
        /// Why not.
        why: String,
    },
}

/// The beginning of a text that comes from outside.
fn shown(text: &str) -> String {
    const MOST: usize = 200;
    format!("{:?}", tame(text.trim(), MOST))
}

/// As it is written. A field that stands there twice is a mistake, which a map would hide.
#[derive(Deserialize)]
struct Written {
    verdict: String,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    after: Option<f64>,
    #[serde(default)]
    until: Option<String>,
    #[serde(default)]
    by: Option<String>,
    #[serde(default)]
    output: Option<String>,
}

impl Verdict {
    /// Reads an answer. Empty is done.
    ///
    /// # Errors
    /// There are words without a verdict in them, or the last verdict makes no sense.
    pub fn parse(answer: &str) -> Result<Verdict, BadVerdict> {
        let answer = answer.trim();
        if answer.is_empty() {
            return Ok(Verdict::Done { output: None });
        }
        // Tools like to write one document over many lines.
        let whole = std::iter::once(answer).filter(|answer| is_verdict(answer));
        let found = whole.chain(answer.lines().rev().filter(|line| is_verdict(line))).next();
        let line = found.ok_or_else(|| BadVerdict::Missing(tame(answer, MAX_REASON)))?;
        let strange = |why: String| BadVerdict::Strange { line: tame(line, MAX_REASON), why };
        let written = serde_json::from_str::<Written>(line).map_err(|error| strange(error.to_string()))?;
        written.verdict().map_err(strange)
    }

    /// As it is written in an answer.
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Done { .. } => "done",
            Verdict::Gone => "gone",
            Verdict::InProgress { .. } => "inProgress",
            Verdict::Blocked { .. } => "blocked",
            Verdict::Veto { .. } => "veto",
            Verdict::Retry { .. } => "retry",
            Verdict::Failed { .. } => "failed",
        }
    }

    /// A failure in words that come from outside.
    pub fn failed(reason: &str) -> Verdict {
        Verdict::Failed { reason: tame(reason, MAX_REASON) }
    }
}

/// A JSON object with the word in it; whether the rest of it is right is another question.
fn is_verdict(text: &str) -> bool {
    let text = text.trim();
    text.starts_with('{')
        && serde_json::from_str::<serde_json::Value>(text).is_ok_and(|value| value.get("verdict").is_some())
}

impl Written {
    fn verdict(self) -> Result<Verdict, String> {
        let after = self.after.map(seconds).transpose()?;
        let until = self.until.as_deref().map(moment).transpose()?;
        let reason = match self.reason.as_deref().map(str::trim) {
            None | Some("") => "no reason given".to_owned(),
            Some(reason) => tame(reason, MAX_REASON),
        };
        let by = self.by.map(|by| tame(&by, MAX_REASON)).filter(|by| !by.is_empty());
        Ok(match self.verdict.as_str() {
            "done" => Verdict::Done { output: self.output.map(|output| cut(&output, MAX_OUTPUT)) },
            "gone" => Verdict::Gone,
            "inProgress" => Verdict::InProgress { after },
            "blocked" => Verdict::Blocked { by, reason },
            "veto" => Verdict::Veto { reason, until },
            "retry" => Verdict::Retry { after, reason },
            "failed" => Verdict::Failed { reason },
            other => return Err(format!("{:?} is none of {VERDICTS}", tame(other, 40))),
        })
    }
}

fn seconds(after: f64) -> Result<Duration, String> {
    if after.is_finite() && after >= 0.0 {
        Ok(Duration::from_secs_f64(after.min(MAX_AFTER)))
    } else {
        Err(format!("after is {after}, and no number of seconds"))
    }
}

fn moment(until: &str) -> Result<i64, String> {
    time::parse(until)
        .ok_or_else(|| format!("until is {:?}, and no time as 2026-11-15T20:00:00Z", tame(until, 40)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn failed(reason: &str) -> Verdict {
        Verdict::Failed { reason: reason.into() }
    }

    #[test]
    fn every_verdict_is_understood() {
        let none = "no reason given".to_owned();
        let second = Some(Duration::from_secs(1));
        for (text, verdict) in [
            ("", Verdict::Done { output: None }),
            (" \n\t\n", Verdict::Done { output: None }),
            (r#"{"verdict":"done","output":"ip freed"}"#, Verdict::Done { output: Some("ip freed".into()) }),
            (r#"{"verdict":"gone"}"#, Verdict::Gone),
            (r#"{"verdict":"inProgress","after":1}"#, Verdict::InProgress { after: second }),
            (
                r#"{"verdict":"blocked","by":"disk","reason":"busy"}"#,
                Verdict::Blocked { by: Some("disk".into()), reason: "busy".into() },
            ),
            (
                r#"{"verdict":"veto","until":"2026-11-15T20:00:00Z"}"#,
                Verdict::Veto { reason: none.clone(), until: Some(1_794_772_800) },
            ),
            (
                r#"{"verdict":"retry","after":1.0,"reason":""}"#,
                Verdict::Retry { after: second, reason: none },
            ),
            (r#"{"verdict":"failed","reason":"\u001b[31mno\n"}"#, failed("[31mno")),
        ] {
            let read = Verdict::parse(text).unwrap();
            assert_eq!(read, verdict, "{text}");
            assert!(text.trim().is_empty() || text.contains(&format!("\"{}\"", read.word())));
        }
    }

    #[test]
    fn the_last_verdict_counts() {
        let text =
            "deleting…\n{\"verdict\":\"done\"}\n{\"verdict\":\"failed\",\"reason\":\"x\"}\n{\"a\":1}\nbye\n";
        assert_eq!(Verdict::parse(text), Ok(failed("x")));
        assert_eq!(Verdict::parse("{\n \"verdict\": \"gone\"\n}\n"), Ok(Verdict::Gone));
        assert_eq!(Verdict::parse("{\"verdict\":\"gone\"}\r\n"), Ok(Verdict::Gone));
    }

    #[test]
    fn words_that_are_no_verdict_are_never_taken_for_one() {
        for text in ["deleted", "{}", "[]", "\"done\"", "{\"verdict\":\"done\"", "null", "done"] {
            assert!(matches!(Verdict::parse(text), Err(BadVerdict::Missing(_))), "{text}");
        }
        for text in [
            r#"{"verdict":"Done"}"#,
            r#"{"verdict":null}"#,
            r#"{"verdict":"failed","verdict":"done"}"#,
            r#"{"verdict":"retry","after":-1}"#,
            r#"{"verdict":"retry","after":"5"}"#,
            r#"{"verdict":"veto","until":"tomorrow"}"#,
        ] {
            assert!(matches!(Verdict::parse(text), Err(BadVerdict::Strange { .. })), "{text}");
        }
        let hint = Verdict::parse("deleted\u{7}").unwrap_err().to_string();
        assert_eq!(
            hint,
            r#"no line of the answer is a verdict such as {"verdict":"done"}; it says "deleted""#
        );
    }

    #[test]
    fn long_words_are_cut() {
        let long = "ä".repeat(10_000);
        let Verdict::Failed { reason } = Verdict::failed(&long) else { panic!("a failure") };
        assert_eq!((reason.len(), reason.ends_with("ä…")), (MAX_REASON - 1, true));
        let wait = Verdict::parse(r#"{"verdict":"inProgress","after":1e300}"#).unwrap();
        assert_eq!(wait, Verdict::InProgress { after: Some(Duration::from_secs(86_400)) });
    }

    proptest! {
        /// No text is done but nothing, or one that says so.
        #[test]
        fn no_accident_is_done(text in "[ \\n{}\":a-z]{0,40}") {
            let done = matches!(Verdict::parse(&text), Ok(Verdict::Done { .. }));
            prop_assert!(!done || text.trim().is_empty() || text.contains("\"verdict\":\"done\""));
        }
    }
}
