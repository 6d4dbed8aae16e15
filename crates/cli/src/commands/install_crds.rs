//! `sexton install-crds`: makes a foreign cluster know our kinds, so that records of modules, rules and classes are
//! objects there like any other. It must not know what is done with them.

use clap::ValueEnum;
use serde_json::{Value, json};
use sexton_client::Place;
use sexton_client::resources::{PutAsk, PutOutcome};
use sexton_model::described;

use crate::failure::{Exit, Failure};
use crate::output::{Output, Paint};
use crate::settings::Settings;
use crate::world::{Purpose, World, is_ours};

/// Install the definitions of our kinds on a cluster
///
/// Nothing needs them: without them, records of modules are ConfigMaps. A server of ours has them already.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Show what would be put, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Instead of putting them, print them in this form
    #[arg(short, long, value_enum)]
    output: Option<Form>,
}

/// The form in which definitions are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// YAML documents
    Yaml,
    /// A JSON list
    Json,
}

/// Plural, kind, short name, and whether it has a status of its own.
const KINDS: [(&str, &str, &str, bool); 5] = [
    ("classes", "Class", "cls", false),
    ("collections", "Collection", "gc", true),
    ("modules", "Module", "mod", true),
    ("rules", "Rule", "", true),
    ("tombstones", "Tombstone", "ts", false),
];

pub(crate) async fn run(args: Args, settings: &Settings, output: &Output) -> Result<Exit, Failure> {
    let definitions: Vec<Value> = KINDS.iter().map(|kind| definition(*kind)).collect();
    match args.output {
        Some(Form::Json) => {
            let list = json!({"apiVersion": "v1", "kind": "List", "items": definitions});
            output.json(&list)?;
            return Ok(Exit::Done);
        }
        Some(Form::Yaml) => {
            for definition in &definitions {
                output.line("---")?;
                output.yaml(definition)?;
            }
            return Ok(Exit::Done);
        }
        None => {}
    }
    let purpose = if args.dry_run { Purpose::Look } else { Purpose::Write };
    let world = World::open(settings, purpose).await?;
    let kinds = world.kinds().await?;
    if is_ours(&kinds) {
        output.talk(&format!("{} has these kinds already", world.target));
        return Ok(Exit::Done);
    }
    let kind = kinds
        .of_document("apiextensions.k8s.io/v1", "CustomResourceDefinition")
        .ok_or_else(|| Failure::new(format!("{} cannot define kinds", world.target)))?;
    let ask = PutAsk { dry_run: args.dry_run, ..PutAsk::default() };
    output.talk(&format!("install kinds on {}", world.target));
    for definition in &definitions {
        let name = definition["metadata"]["name"].as_str().unwrap_or_default();
        let put = world.resources.put(&Place::new(kind, None), name, definition, &ask).await?;
        let (symbol, paint, word) = match put.outcome {
            PutOutcome::Created => ('+', Paint::Good, "created"),
            PutOutcome::Changed => ('~', Paint::Change, "changed"),
            PutOutcome::Unchanged => ('=', Paint::Faint, "unchanged"),
        };
        output.mark(symbol, paint, &format!("{name} {word}"))?;
    }
    Ok(Exit::Done)
}

fn definition((plural, kind, short, status): (&str, &str, &str, bool)) -> Value {
    let any = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let mut schema = described::schema("sexton.dev", kind).unwrap_or(any);
    refuse_nonsense(kind, &mut schema);
    let mut version =
        json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}});
    if status {
        version["subresources"] = json!({"status": {}});
    }
    let mut names = json!({"plural": plural, "kind": kind, "singular": kind.to_lowercase()});
    if !short.is_empty() {
        names["shortNames"] = json!([short]);
    }
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": format!("{plural}.sexton.dev"),
            "labels": {"app.kubernetes.io/managed-by": "sexton"},
        },
        "spec": {"group": "sexton.dev", "scope": "Cluster", "names": names, "versions": [version]},
    })
}

/// Lets the cluster refuse the coarsest nonsense in what is written by hand, without a webhook. What a schema cannot say is
/// refused by `put` and `apply`, and named by commands that meet it.
fn refuse_nonsense(kind: &str, schema: &mut Value) {
    let validations = match kind {
        "Class" => of_classes(),
        "Rule" => of_rules(),
        _ => return,
    };
    schema["required"] = json!(["spec"]);
    for (place, words) in validations {
        let Some(found) = schema.pointer_mut(place).and_then(Value::as_object_mut) else { continue };
        found.extend(words.as_object().cloned().into_iter().flatten());
    }
}

/// Places in the schema of classes, and what is added there.
fn of_classes() -> Vec<(&'static str, Value)> {
    let one_way = "[has(self.exec), has(self.http), has(self.lua)].filter(way, way).size() == 1";
    vec![
        ("/properties/spec", json!({"required": ["for"]})),
        ("/properties/spec/properties/for", json!({"required": ["kind"]})),
        ("/properties/spec/properties/for/properties/kind", json!({"minLength": 1})),
        (
            "/properties/spec/properties/destroy",
            json!({"x-kubernetes-validations": [{"rule": one_way, "message": "a method is one of exec, http and lua"}]}),
        ),
        ("/properties/spec/properties/destroy/properties/exec", json!({"required": ["argv"]})),
        ("/properties/spec/properties/destroy/properties/exec/properties/argv", json!({"minItems": 1})),
        ("/properties/spec/properties/destroy/properties/http", json!({"required": ["url"]})),
        ("/properties/spec/properties/destroy/properties/lua", json!({"required": ["source"]})),
        ("/properties/spec/properties/destroy/properties/deadlineSeconds", json!({"minimum": 1})),
        ("/properties/spec/properties/retry/properties/limit", json!({"minimum": 0})),
    ]
}

/// The same for rules.
fn of_rules() -> Vec<(&'static str, Value)> {
    let owned = "self.detector != 'leftover' || (has(self.owner) && has(self.labels))";
    let why = "a leftover is looked for by its owner and by labels";
    vec![
        (
            "/properties/spec",
            json!({
                "required": ["detector", "kinds"],
                "x-kubernetes-validations": [{"rule": owned, "message": why}],
            }),
        ),
        ("/properties/spec/properties/detector", json!({"enum": ["orphaned", "leftover"]})),
        ("/properties/spec/properties/kinds", json!({"minItems": 1})),
        ("/properties/spec/properties/mode", json!({"enum": ["report", "collect"]})),
    ]
}
