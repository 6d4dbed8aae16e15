//! Consent to exactly one plan: typed on a terminal, or given by a flag.

use sexton_lifecycle::plan::digest_matches;

use crate::ask;
use crate::failure::{Exit, Failure};
use crate::output::Output;

/// The flags by which somebody agrees before being asked; the same for all commands that destroy.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Agreement {
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
    /// Do not ask, if the digest of the plan begins like this now
    #[arg(long, value_name = "DIGEST")]
    pub(crate) approve: Option<String>,
}

impl Agreement {
    /// What decides whether the plan with this digest is executed.
    pub(crate) fn given<'a>(&'a self, digest: &'a str) -> Given<'a> {
        let somebody = ask::somebody_is_there();
        Given { yes: self.yes, approve: self.approve.as_deref(), digest, somebody }
    }
}

/// What decides whether a plan is executed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Given<'a> {
    /// `--yes`
    pub(crate) yes: bool,
    /// `--approve DIGEST`
    pub(crate) approve: Option<&'a str>,
    /// The digest of the plan as it is now.
    pub(crate) digest: &'a str,
    /// Whether a question can be asked on a terminal.
    pub(crate) somebody: bool,
}

/// The decision about a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Consent {
    /// It is executed.
    Given,
    /// The user is asked for the word yes.
    AskYes,
    /// The user is asked for these names: the contents of these objects are destroyed, too.
    AskNames(Vec<String>),
    /// What was approved is another plan.
    OtherPlan,
    /// There is no terminal for a question; `--yes` is enough.
    NeedsYes,
    /// There is no terminal for a question, and only the digest is enough.
    NeedsDigest,
}

/// Decides by the flags. `holders` are the names of namespaces and definitions that are destroyed with their contents.
pub(crate) fn consent(given: Given<'_>, holders: &[String]) -> Consent {
    match given {
        Given { approve: Some(typed), digest, .. } if digest_matches(typed, digest) => Consent::Given,
        Given { approve: Some(_), .. } => Consent::OtherPlan,
        Given { yes: true, .. } if holders.is_empty() => Consent::Given,
        Given { somebody: true, .. } if holders.is_empty() => Consent::AskYes,
        Given { somebody: true, .. } => Consent::AskNames(holders.to_vec()),
        _ if holders.is_empty() => Consent::NeedsYes,
        _ => Consent::NeedsDigest,
    }
}

/// What a refusal needs to say what to type instead.
pub(crate) struct Refusal<'a> {
    /// The command without its consent.
    pub(crate) command: &'a str,
    pub(crate) digest: &'a str,
    pub(crate) what: &'a str,
}

impl Refusal<'_> {
    /// What of the digest people type.
    fn typed(&self) -> String {
        let digest: String = self.digest.chars().take(8).collect();
        format!("{} --approve {digest}", self.command)
    }

    fn held(&self, why: &str) -> Failure {
        Failure::new(why).detail("Nothing was deleted.").exit(Exit::Held)
    }
}

/// Asks the user if the decision requires it. Without consent, an error with the command to type.
pub(crate) async fn obtain(
    consent: Consent,
    question: &str,
    refusal: &Refusal<'_>,
    output: &Output,
) -> Result<(), Failure> {
    let what = refusal.what;
    match consent {
        Consent::Given => Ok(()),
        Consent::AskYes => match ask::answer(&format!("{question} Type yes: "), output).await?.as_str() {
            "yes" => Ok(()),
            _ => Err(refusal.held("the answer was not yes")),
        },
        Consent::AskNames(names) => {
            for name in names {
                let prompt = format!("{question} Everything in it goes along. Type its name, {name}: ");
                if ask::answer(&prompt, output).await? != name {
                    return Err(refusal.held(&format!("the answer was not {name}")));
                }
            }
            Ok(())
        }
        Consent::OtherPlan => Err(refusal
            .held("what was approved is another plan; this is the one now")
            .next("do this one", refusal.typed())),
        Consent::NeedsYes => Err(refusal
            .held(&format!("somebody must say yes before deleting {what}"))
            .next("exactly this plan", refusal.typed())
            .next("whatever it is then", format!("{} --yes", refusal.command))),
        Consent::NeedsDigest => Err(refusal
            .held(&format!("{what} takes its contents along, so exactly this plan must be approved"))
            .next("do it", refusal.typed())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIVEN: Given<'_> = Given { yes: false, approve: None, digest: "7c1f09aa31d2", somebody: false };

    #[test]
    fn a_plan_needs_a_yes_and_contents_need_more() {
        let prod = ["prod".to_owned()];
        assert_eq!(consent(GIVEN, &[]), Consent::NeedsYes);
        assert_eq!(consent(GIVEN, &prod), Consent::NeedsDigest);
        assert_eq!(consent(Given { yes: true, ..GIVEN }, &[]), Consent::Given);
        assert_eq!(consent(Given { yes: true, ..GIVEN }, &prod), Consent::NeedsDigest);
        let there = Given { somebody: true, ..GIVEN };
        assert_eq!(consent(there, &[]), Consent::AskYes);
        assert_eq!(consent(there, &prod), Consent::AskNames(prod.to_vec()));
        assert_eq!(consent(Given { yes: true, ..there }, &prod), Consent::AskNames(prod.to_vec()));
    }

    #[test]
    fn the_beginning_of_a_digest_is_enough_if_it_is_the_one_now() {
        let approve = |typed| consent(Given { approve: Some(typed), ..GIVEN }, &["prod".to_owned()]);
        assert_eq!(approve("7c1f"), Consent::Given);
        assert_eq!(approve("7C1F09AA31D2"), Consent::Given);
        for other in ["7c1", "7c1f09aa31d2ff", "91aa", ""] {
            assert_eq!(approve(other), Consent::OtherPlan, "{other}");
        }
        let yes = Given { yes: true, approve: Some("91aa"), somebody: true, ..GIVEN };
        assert_eq!(consent(yes, &[]), Consent::OtherPlan, "a wrong digest is never overruled");
    }
}
