//! One call of a stored object: the program from its text, the objects from a model, the changes as an answer.

use sexton_runtime::gc::Phase;
use sexton_runtime::lua::{
    Host, Limits, Source, StoredAnswer, StoredCall, StoredError, StoredMethod, call_stored,
};
use sexton_runtime::model::{Model, ModelValue};
use sexton_runtime::world::ObjectId;

use crate::harness::{block_on, short};

const TEXT: &str = r#"
format "1.4"
local Base = class("Base", {
    properties = { notes = { usage = "InOut", type = "list", default = {} } },
    init = function(self) error("a stored object is not initialized again") end,
    note = function(self, text) local notes = table.clone(self.notes) table.insert(notes, text) self.notes = notes end,
    destroy = function(self, gc) self:note("Base " .. gc.phase .. " " .. tostring(gc:isDoomed(self))) end,
})
local Machine = class("Machine", {
    extends = Base,
    properties = { network = { usage = "InOut", type = "Network" }, mood = { usage = "In", type = "string" }, heat = "Runtime" },
    destroy = function(self, gc)
        self.heat = 1
        self:note("Machine, network doomed: " .. tostring(gc:isDoomed(self.network)))
        self.network:left(self)
        sleep(0.001)
        if self.mood == "broken" then error("it is stuck") end
        if self.mood == "endless" then while true do end end
        if self.mood == "collects" then GC.collect() end
    end,
})
class("Network", {
    properties = { machines = { usage = "InOut", type = "list" }, log = { usage = "Out", type = "list", of = "Entry" } },
    left = function(self, machine) self.machines = {} GC.unsubscribe(machine) end,
    hear = function(self, gc, machine)
        if gc.phase == "warning" then gc:cancel("not today") end
        self.log = { new("Entry", { text = gc.phase .. " of " .. Object.name(machine), about = new("Entry", {}) }) }
        new("Entry", { text = "nothing refers to it" })
    end,
})
class("Entry", { properties = { text = { usage = "In", type = "string" }, about = "InOut" } })
function deploy(env) error("not run") end
"#;

fn model(mood: &str) -> Model {
    let text = r#"{"Objects": {"?": {"type": "Network", "id": "net",
            "dependencies": {"onDestruction": [{"target": "m", "handler": "hear"}]}},
        "machines": [{"?": {"type": "Machine", "id": "m", "name": "web"}, "mood": "MOOD",
            "network": {"?": {"ref": "net"}}}]}}"#;
    Model::parse(&text.replace("MOOD", mood)).unwrap()
}

fn call(mood: &str, object: &str, method: StoredMethod, phase: Phase) -> Result<StoredAnswer, StoredError> {
    let id = |id: &str| ObjectId::new(id).unwrap();
    let source = Source { name: "stored.luau".to_owned(), text: TEXT.to_owned() };
    let call = StoredCall { model: model(mood), object: id(object), method, phase, doomed: vec![id("m")] };
    let limits = if mood == "endless" { short() } else { Limits::default() };
    let host = Host { limits, ..Host::default() };
    block_on(call_stored(&source, host, &call))
}

#[test]
fn a_destructor_runs_and_its_changes_are_told() {
    let answer = call("", "m", StoredMethod::Destroy, Phase::Destroying).unwrap();
    assert_eq!(answer.cancelled, None);
    assert!(answer.created.is_empty() && answer.dangling.is_empty(), "{answer:?}");
    let ids: Vec<&str> = answer.changed.iter().map(|one| one.id.as_str()).collect();
    assert_eq!(ids, ["net", "m"]);
    let [network, machine] = &answer.changed[..] else { panic!("{answer:?}") };
    let text = |text: &str| ModelValue::String(text.to_owned());
    let notes = vec![text("Machine, network doomed: false"), text("Base destroying true")];
    assert_eq!(machine.properties.get("notes"), Some(&ModelValue::List(notes)));
    assert_eq!(machine.properties.len(), 1, "nothing else changed that is written down");
    assert_eq!(machine.dependencies, None);
    assert_eq!(network.properties.get("machines"), Some(&ModelValue::List(Vec::new())));
    assert_eq!(network.dependencies, Some(Vec::new()));
}

#[test]
fn a_handler_runs_and_can_cancel_and_create() {
    let hear = || StoredMethod::Handler { name: "hear".to_owned(), about: ObjectId::new("m").unwrap() };
    let answer = call("", "net", hear(), Phase::Warning).unwrap();
    assert_eq!(answer.cancelled.as_deref(), Some("not today"));
    assert_eq!(answer.created.len(), 2, "{answer:?}");
    let entry = answer.created.iter().find(|one| one.properties.contains_key("text")).unwrap();
    assert_eq!(entry.class, "Entry");
    let texts: Vec<_> = answer.created.iter().filter_map(|one| one.properties.get("text")).collect();
    assert!(texts.contains(&&ModelValue::String("warning of web".to_owned())), "{texts:?}");
    let Some(ModelValue::List(log)) = answer.changed[0].properties.get("log") else { panic!("{answer:?}") };
    assert!(matches!(&log[..], [ModelValue::Ref(_)]), "{log:?}");
    let answer = call("", "net", hear(), Phase::Destroyed).unwrap();
    assert_eq!(answer.cancelled, None);
}

#[test]
fn what_goes_wrong_is_told() {
    let error = |mood, object, method, phase| call(mood, object, method, phase).unwrap_err().to_string();
    let stuck = error("broken", "m", StoredMethod::Destroy, Phase::Destroying);
    assert!(stuck.starts_with("stored.luau:17: it is stuck"), "{stuck}");
    let endless = error("endless", "m", StoredMethod::Destroy, Phase::Destroying);
    assert!(endless.contains("it did not pause for 0.2 seconds"), "{endless}");
    let collects = error("collects", "m", StoredMethod::Destroy, Phase::Destroying);
    assert!(collects.contains("stored.luau:19: a collection is under way"), "{collects}");
    let handler = |name: &str, about: &str| StoredMethod::Handler {
        name: name.to_owned(),
        about: ObjectId::new(about).unwrap(),
    };
    let unknown = error("", "net", handler("listen", "m"), Phase::Warning);
    assert_eq!(unknown, "class Network has no method listen");
    let missing = error("", "net", handler("hear", "absent"), Phase::Warning);
    assert_eq!(missing, "absent is not among the stored objects");
    let source = Source { name: "stored.luau".to_owned(), text: "class('Other', {})".to_owned() };
    let id = ObjectId::new("m").unwrap();
    let method = StoredMethod::Destroy;
    let call =
        StoredCall { model: model(""), object: id, method, phase: Phase::Destroying, doomed: Vec::new() };
    let unfit = block_on(call_stored(&source, Host::default(), &call)).unwrap_err();
    assert!(matches!(unfit, StoredError::Import(_)), "{unfit}");
}
