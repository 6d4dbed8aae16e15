//! What a deletion comes to: one look at everything, the plan, and how it is shown. Writes nothing.

use clap::ValueEnum;
use sexton_client::Kinds;
use sexton_collector::preview::World as Seen;
use sexton_lifecycle::plan::Plan;
use sexton_lifecycle::{Detection, DetectionSettings, HypotheticalDeletion, NodeId};
use sexton_model::Uid;

use super::Args;
use super::policy::word;
use super::wanted::Named;
use crate::failure::{Exit, Failure};
use crate::naming::Names;
use crate::output::graph::{Size, dot, mermaid, svg};
use crate::output::style::{Style, count};
use crate::output::tree::{DeathPlan, Fold, json, text};
use crate::settings::{Settings, quoted};
use crate::showing::picture::View;
use crate::showing::plan::Shown;
use crate::world::World;

/// The form in which a plan is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// A tree, in the order of death
    Text,
    /// KIND/NAME lines, in the order of death
    Name,
    /// A stream of JSON lines for programs; docs/output.md describes it
    Json,
    /// A picture for Graphviz
    Dot,
    /// A picture for Mermaid
    Mermaid,
    /// A picture
    Svg,
}

/// A plan, with the snapshot and judgement that it was made of.
pub(crate) struct Preview {
    pub(crate) seen: Seen,
    pub(crate) judgement: Detection,
    pub(crate) plan: Plan,
    pub(crate) names: Names,
    /// The objects that were named.
    pub(crate) roots: Vec<NodeId>,
}

impl Preview {
    /// Takes a snapshot, and plans the deletion of these objects. Writes nothing.
    pub(crate) async fn make(
        args: &Args,
        world: &World,
        kinds: &Kinds,
        named: &[Named],
    ) -> Result<Preview, Failure> {
        let seen = Seen::look(&*world.gateway(kinds), &world.resources).await?;
        world.tell_ignored_classes(&seen);
        let roots: Vec<NodeId> = named.iter().filter_map(|named| seen.life(&named.uid.0)).collect();
        let asked: Vec<HypotheticalDeletion> = roots
            .iter()
            .map(|life| HypotheticalDeletion {
                node: *life,
                policy: args.policy.map_or_else(|| seen.usual_policy(*life), Into::into),
            })
            .collect();
        let (judgement, plan) = seen.if_deleted(&asked, &DetectionSettings::default())?;
        Ok(Preview { judgement, plan, names: Names::new(kinds, &world.namespace), roots, seen })
    }

    /// Fails if protected objects were named. Objects that are terminating already are not refused.
    pub(crate) fn refuse_protected(&self, settings: &Settings) -> Result<(), Failure> {
        let snapshot = self.seen.snapshot();
        let unmarked = self.roots.iter().filter(|life| !snapshot.is_terminating(**life));
        let protected: Vec<(String, &str)> = unmarked
            .filter_map(|life| Some((self.names.of(snapshot, *life), snapshot.protection(*life)?)))
            .collect();
        let Some((first, _)) = protected.first() else { return Ok(()) };
        let what = match protected.as_slice() {
            [(one, _)] => format!("{one} is protected"),
            many => format!("{} of them are protected", many.len()),
        };
        let mut failure = Failure::new(what).exit(Exit::Held);
        for (name, reason) in &protected {
            let said = if *reason == "true" { String::new() } else { format!(": {reason}") };
            if protected.len() > 1 || !said.is_empty() {
                failure = failure.detail(format!("{name}{said}"));
            }
        }
        let flags = settings.flags();
        let unprotect = protected.iter().map(|(name, _)| quoted(name)).collect::<Vec<_>>().join(" ");
        Err(failure
            .detail("Nothing was deleted.")
            .next("protect it no longer", format!("sexton unprotect {unprotect}{flags}"))
            .next("see what hangs on it", format!("sexton why {}{flags}", quoted(first))))
    }

    /// The names of the namespaces and definitions among the roots that have contents.
    pub(crate) fn holders(&self) -> Vec<String> {
        let snapshot = self.seen.snapshot();
        let full = |life: &&NodeId| {
            (snapshot.is_namespace(**life) || snapshot.is_definition(**life))
                && snapshot.contents(**life).next().is_some()
        };
        self.roots.iter().filter(full).map(|life| snapshot.name(*life).to_owned()).collect()
    }

    /// What is deleted, for a title or a question.
    pub(crate) fn what(&self) -> String {
        match self.roots.as_slice() {
            [one] => self.names.of(self.seen.snapshot(), *one),
            many => format!("{} objects", count(many.len())),
        }
    }

    /// The uids of the roots.
    pub(crate) fn root_uids(&self) -> Vec<Uid> {
        self.roots.iter().map(|life| self.seen.snapshot().uid(*life)).collect()
    }

    /// The doomed objects: uid, label, and wave from 1.
    pub(crate) fn doomed(&self) -> impl Iterator<Item = (Uid, String, usize)> + '_ {
        let waves = self.plan.waves.iter().enumerate();
        waves.flat_map(move |(wave, in_wave)| {
            let steps = in_wave.groups.iter().flat_map(|group| &group.members);
            steps
                .map(move |step| (step.uid.clone(), self.names.of(self.seen.snapshot(), step.node), wave + 1))
        })
    }

    /// The plan as it is shown.
    pub(crate) fn shown(&self, args: &Args, world: &World) -> DeathPlan {
        let shown =
            Shown { world: &self.seen, judgement: &self.judgement, plan: &self.plan, names: &self.names };
        let policy = match args.policy {
            Some(policy) => format!(", policy {}", word(policy.into())),
            None => String::new(),
        };
        DeathPlan {
            target: world.target.clone(),
            title: format!("delete {}{policy}", self.what()),
            ..shown.death_plan()
        }
    }

    /// The plan in one of its forms.
    pub(crate) fn written(&self, plan: &DeathPlan, form: Form, style: Style, fold: Fold) -> String {
        let view = || View { snapshot: self.seen.snapshot(), plan: &self.plan, names: &self.names };
        let picture = || view().picture(view().doomed(), format!("{} · {}", plan.title, plan.target));
        match form {
            Form::Text => text::text(plan, style, fold),
            Form::Name => self.doomed().map(|(_, label, _)| label + "\n").collect(),
            Form::Json => json::ndjson(plan),
            Form::Dot => dot::dot(&picture()),
            Form::Mermaid => mermaid::mermaid(&picture()),
            Form::Svg => svg::svg(picture(), if fold == Fold::Never { Size::All } else { Size::READABLE }),
        }
    }
}

/// The command that was typed, without what gives consent.
pub(crate) fn command(args: &Args, settings: &Settings) -> String {
    let mut words = vec!["sexton delete".to_owned()];
    words.extend(args.words.iter().map(|word| quoted(word)));
    words.extend(args.files.iter().map(|file| format!("-f {}", quoted(file))));
    words.extend(args.selector.iter().map(|selector| format!("-l {}", quoted(selector))));
    words.extend(args.all.then(|| "--all".to_owned()));
    words.extend(args.policy.map(|policy| format!("--policy {}", word(policy.into()))));
    words.extend(args.ignore_not_found.then(|| "--ignore-not-found".to_owned()));
    format!("{}{}", words.join(" "), settings.flags())
}
