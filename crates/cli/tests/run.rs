//! `sexton run`: programs in environments, from the first run to a server that destroys what they made.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may end so")]

mod common;
#[path = "serve/process.rs"]
#[allow(dead_code, reason = "the other tests of it use more")]
mod process;

use std::time::{Duration, Instant};

use common::Play;
use process::Server;

/// An application with a network and machines. Whatever is destroyed writes its name into a file.
const SHOP: &str = r#"
format "1.4"
local function note(text)
    local done = exec { program = "sh", args = { "-c", "echo '" .. text .. "' >> NOTES" } }
    assert(done.code == 0, done.stderr)
end
local Network = class("Network", {
    properties = { name = { usage = "In", type = "string" }, lost = { usage = "Out", type = "number", default = 0 } },
    watch = function(self, machine) GC.subscribe(machine, "machineGone") end,
    machineGone = function(self, gc, machine)
        if gc.phase == "destroyed" then self.lost = self.lost + 1 end
    end,
    destroy = function(self) note("network " .. self.name .. " after " .. self.lost) end,
})
local Machine = class("Machine", {
    properties = { name = { usage = "In", type = "string" }, network = { usage = "InOut", type = Network } },
    init = function(self) self.network:watch(self) end,
    destroy = function(self) note("machine " .. self.name .. " of " .. self.network.name) end,
})
local Shop = class("Shop", {
    properties = {
        name = { usage = "In", type = "string" },
        network = { usage = "InOut", type = Network },
        machines = { usage = "InOut", type = "list", default = {} },
    },
    init = function(self)
        self.network = new(Network, { name = "net" }, self)
        local machines = {}
        for _, name in { "web", "db", "mail" } do
            table.insert(machines, new(Machine, { name = name, network = self.network }, self))
        end
        self.machines = machines
    end,
    destroy = function(self) note("shop " .. self.name) end,
})
function deploy(env)
    if not env.applications or #env.applications == 0 then
        env.applications = { new(Shop, { name = "shop" }, env) }
    end
    log("machines: " .. #env.applications[1].machines)
end
"#;

struct Shop {
    play: Play,
}

impl Shop {
    fn new() -> Shop {
        let play = Play::new();
        let notes = play.path().join("notes");
        play.file("shop.luau", &SHOP.replace("NOTES", notes.to_str().unwrap()));
        Shop { play }
    }

    fn notes(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.play.path().join("notes")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

const RUN: &str = "run shop.luau --env prod --allow-exec sh";

/// REQ-MUR-12, REQ-MUR-15, REQ-MUR-76: run, drop a machine, run again, delete the application on a server: its network
/// goes after all machines though it does not own them, by the code that was stored with it; what handlers changed is
/// kept from call to call.
#[test]
fn from_the_first_run_to_the_end_of_the_application() {
    let shop = Shop::new();
    let first = shop.play.run(&format!("{RUN} --out model.json"));
    assert_eq!((first.code, first.out.lines().next()), (0, Some("machines: 3")), "{first:?}");
    assert!(first.out.contains("✔ 0 destroyed · 6 objects stored, 6 written"), "{first:?}");
    shop.play.run("get machines -n prod -o name").says(
        "machine.classes.sexton.dev/db\nmachine.classes.sexton.dev/mail\nmachine.classes.sexton.dev/web\n",
    );

    let text = std::fs::read_to_string(shop.play.path().join("model.json")).unwrap();
    let mut model: serde_json::Value = serde_json::from_str(&text).unwrap();
    let machines = model.pointer_mut("/Objects/applications/0/machines").unwrap().as_array_mut().unwrap();
    machines.retain(|machine| machine["name"] != "mail");
    shop.play.file("less.json", &model.to_string());
    let command = format!("{RUN} --model less.json");
    let shown = shop.play.run(&format!("{command} --dry-run"));
    assert!(shown.out.contains("- Machine mail  the model does not have it any more"), "{shown:?}");
    shop.play.run(&command).fails(3, &["somebody must say yes", "--yes"]);
    assert_eq!(shop.notes(), Vec::<String>::new());
    let second = shop.play.run(&format!("{command} --yes"));
    assert_eq!(second.code, 0, "{second:?}");
    assert!(second.out.contains("machines: 2"), "{second:?}");
    assert_eq!(shop.notes(), ["machine mail of net"]);

    let server = Server::start(&shop.play.data(), &["--allow-exec", "/bin"]);
    let deleted = shop.play.run(&format!("delete shop/shop -n prod --yes --server {}", server.url));
    assert_eq!(deleted.code, 0, "{deleted:?}");
    let notes = shop.notes();
    let mut machines = notes[1..3].to_vec();
    machines.sort();
    assert_eq!(machines, ["machine db of net", "machine web of net"], "{notes:?}");
    assert_eq!(notes[3..], ["network net after 3", "shop shop"], "{notes:?}");
}

/// REQ-MUR-70: programs that are wrong are told where and why, and nothing happens.
#[test]
fn wrong_programs_are_told_where() {
    let play = Play::new();
    for (program, word) in [
        ("format \"1.4\"\nfunction deploy(env", "bad.luau:2"),
        ("function deploy(env) GC.collect() end", "1.4"),
        ("format \"1.4\"\nfunction deploy(env) exec { program = \"sh\", args = {} } end", "allow-exec"),
        ("format \"1.4\"\nfunction deploy(env) local x = nil; x.y = 1 end", "bad.luau:2"),
        ("format \"1.4\"\n", "deploy"),
    ] {
        play.file("bad.luau", program);
        play.run("run bad.luau --env prod").fails(1, &[word]);
    }
    play.run("run missing.luau --env prod").fails(1, &["missing.luau"]);
    play.file("good.luau", "format \"1.4\"\nfunction deploy(env) end");
    play.run("run good.luau --env Not_A_Name").fails(1, &["Not_A_Name"]);
    play.file("model.json", "{\"Objects\": {\"x\": 1}}");
    play.run("run good.luau --env prod --model model.json").fails(1, &["model.json"]);
}

/// Killed in the middle of a destruction, it is finished by the next run: by the same code, once more.
#[test]
fn a_killed_run_is_finished_by_the_next() {
    let play = Play::new();
    let notes = play.path().join("notes");
    let program = |deploy: &str| {
        format!(
            r#"format "1.4"
            local Thing = class("Thing", {{
                properties = {{ name = {{ usage = "In", type = "string" }} }},
                destroy = function(self)
                    exec {{ program = "sh", args = {{ "-c", "echo begin >> {0}; while [ -e {0}.hold ]; do sleep 0.05; done; echo end >> {0}" }} }}
                end,
            }})
            function deploy(env)
                {deploy}
            end"#,
            notes.display()
        )
    };
    play.file("make.luau", &program("env.applications = { new(Thing, { name = 't' }, env) }"));
    play.file("drop.luau", &program("env.applications = {}"));
    assert_eq!(play.run("run make.luau --env prod --allow-exec sh").code, 0);
    play.file("notes.hold", "");
    let mut killed = play.command("run drop.luau --env prod --allow-exec sh").spawn().unwrap();
    let end = Instant::now() + Duration::from_secs(120);
    while !notes.exists() {
        assert!(Instant::now() < end, "it never began");
        std::thread::sleep(Duration::from_millis(10));
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    std::fs::remove_file(play.path().join("notes.hold")).unwrap();
    play.run("get things -n prod -o name").says("thing.classes.sexton.dev/t\n");
    // On a store of its own nobody else can be at work, so that the lease of the dead one does not count.
    let next = play.run("run drop.luau --env prod --allow-exec sh --yes");
    assert_eq!(next.code, 0, "{next:?}");
    let text = std::fs::read_to_string(&notes).unwrap();
    assert_eq!(text.lines().filter(|line| *line == "begin").count(), 2, "{text}");
    play.run("get things -n prod -o name").says("");
}

/// A thing whose `destroy` waits as long as a file is there, in programs that differ in what `deploy` wants.
fn things(play: &Play) {
    let notes = play.path().join("notes");
    let program = |wanted: &str| {
        format!(
            r#"format "1.4"
            local Thing = class("Thing", {{
                properties = {{ name = {{ usage = "In", type = "string" }} }},
                destroy = function(self)
                    exec {{ program = "sh", args = {{ "-c", "echo " .. self.name .. " >> {0}; while [ -e {0}.hold ]; do sleep 0.05; done" }} }}
                end,
            }})
            function deploy(env)
                local have, list = {{}}, {{}}
                for _, thing in env.applications or {{}} do have[thing.name] = thing end
                for _, name in {{ {wanted} }} do
                    table.insert(list, have[name] or new(Thing, {{ name = name }}, env))
                end
                env.applications = list
            end"#,
            notes.display()
        )
    };
    play.file("old.luau", &program(r#""kept", "dropped""#));
    play.file("new.luau", &program(r#""kept", "made""#));
}

/// Waits until a destructor has noted that it runs.
fn wait_for_notes(play: &Play) {
    let end = Instant::now() + Duration::from_secs(120);
    while !play.path().join("notes").exists() {
        assert!(Instant::now() < end, "it never began");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// EXT-26: killed while it destroys what `deploy` dropped, a run leaves the new model, and the plan of the next one says
/// why it destroys the rest.
#[test]
fn a_run_that_is_killed_after_deploy_leaves_the_new_model() {
    let play = Play::new();
    things(&play);
    assert_eq!(play.run("run old.luau --env prod --allow-exec sh").code, 0);
    play.file("notes.hold", "");
    let mut killed = play.command("run new.luau --env prod").spawn().unwrap();
    wait_for_notes(&play);
    killed.kill().unwrap();
    killed.wait().unwrap();
    std::fs::remove_file(play.path().join("notes.hold")).unwrap();
    let names =
        "thing.classes.sexton.dev/dropped\nthing.classes.sexton.dev/kept\nthing.classes.sexton.dev/made\n";
    play.run("get things -n prod -o name").says(names);
    let shown = play.run("run new.luau --env prod --dry-run");
    assert!(shown.out.contains("Thing dropped  an interrupted run had begun to destroy it"), "{shown:?}");
    let next = play.run("run new.luau --env prod --yes");
    assert_eq!(next.code, 0, "{next:?}");
    play.run("get things -n prod -o name")
        .says("thing.classes.sexton.dev/kept\nthing.classes.sexton.dev/made\n");
}

/// What can be refused is refused before anything runs: an output that cannot be written, a model without objects.
#[test]
fn what_is_refused_before_anything_runs() {
    let play = Play::new();
    things(&play);
    play.run("run old.luau --env prod --out nowhere/model.json")
        .fails(1, &["nowhere/model.json", "Nothing was run"]);
    play.run("run old.luau --env prod --out .").fails(1, &["it is a directory"]);
    play.run("get env -o name").says("");
    assert_eq!(play.run("run old.luau --env prod --allow-exec sh --out model.json").code, 0);
    assert!(std::fs::read_to_string(play.path().join("model.json")).unwrap().contains("dropped"));
    let left: Vec<_> = std::fs::read_dir(play.path()).unwrap().map(|one| one.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().ends_with(".tmp")), "{left:?}");
    for empty in ["{}", "null", "{\"Objects\": null}"] {
        play.file("empty.json", empty);
        let refused = play.run("run old.luau --env prod --model empty.json --yes");
        refused.fails(3, &["the model has no objects, and 3 are stored", "--allow-empty"]);
    }
    play.run("run old.luau --env prod --allow-exec sh --revoke-exec sh").fails(1, &["allowed and revoked"]);
    let kept = play.run("run old.luau --env prod");
    assert!(kept.err.contains("allowed by an earlier run: exec sh"), "{kept:?}");
    let meant = play.run("run old.luau --env prod --model empty.json --yes --allow-empty");
    assert_eq!(meant.code, 0, "{meant:?}");
    let notes = std::fs::read_to_string(play.path().join("notes")).unwrap();
    assert_eq!(notes.lines().count(), 2, "both were destroyed before deploy made others: {notes}");
}

/// A watcher that may cancel, and a thing whose `destroy` may fail once.
const WATCHED: &str = r#"format "1.4"
local Watcher = class("Watcher", {
    properties = { name = { usage = "In", type = "string" }, cancels = { usage = "InOut", type = "boolean" } },
    watch = function(self, thing) GC.subscribe(thing, "hear") end,
    hear = function(self, gc) if self.cancels and gc.phase == "warning" then gc:cancel("it is needed") end end,
})
local Thing = class("Thing", {
    properties = { name = { usage = "In", type = "string" }, fails = { usage = "InOut", type = "boolean" } },
    destroy = function(self)
        log("destroy " .. self.name)
        if self.fails then self.fails = false error("not the first time") end
    end,
})
function deploy(env)
"#;

/// REQ-MUR-92: a collection that is cancelled before the deployment ends the run with 3, and it is said who cancelled it;
/// one that is cancelled after the deployment leaves garbage, which is 4. What a second try destroys is no failure.
#[test]
fn how_a_run_ends_says_what_became_of_its_garbage() {
    let play = Play::new();
    let program = |name: &str, deploy: &str| play.file(name, &format!("{WATCHED}{deploy}\nend"));
    let make = r#"local w = new(Watcher, { name = "keeper", cancels = true }, env)
        local t = new(Thing, { name = "thing" }, env) w:watch(t) env.applications = { w, t }"#;
    program("make.luau", make);
    program("look.luau", "log('deploy') env.applications = { env.applications[1] }");
    program("let.luau", "env.applications[1].cancels = false env.applications = { env.applications[1] }");
    program("twice.luau", "new(Thing, { name = 'stubborn', fails = true }) log(#GC.collect().failed)");
    assert_eq!(play.run("run make.luau --env prod --out model.json").code, 0);
    let text = std::fs::read_to_string(play.path().join("model.json")).unwrap();
    let mut model: serde_json::Value = serde_json::from_str(&text).unwrap();
    model["Objects"]["applications"].as_array_mut().unwrap().truncate(1);
    play.file("dropped.json", &model.to_string());
    let cancelled = play.run("run look.luau --env prod --model dropped.json --yes");
    cancelled.fails(3, &["Watcher keeper cancelled the collection before the deployment: it is needed"]);
    assert!(!cancelled.out.contains("deploy\n") && !cancelled.out.contains('✔'), "{cancelled:?}");
    play.run("get things -n prod -o name").says("thing.classes.sexton.dev/thing\n");
    let after = play.run("run look.luau --env prod");
    assert_eq!(after.code, 4, "{after:?}");
    assert!(after.out.contains("Watcher keeper cancelled the collection: it is needed"), "{after:?}");
    let gone = play.run("run let.luau --env prod");
    assert_eq!((gone.code, gone.out.contains("destroy thing\n")), (0, true), "{gone:?}");
    let twice = play.run("run twice.luau --env prod");
    assert_eq!(twice.code, 0, "{twice:?}");
    assert_eq!(twice.out.matches("destroy stubborn\n").count(), 2, "{twice:?}");
    assert!(twice.out.contains("destroying failed, to be tried again"), "{twice:?}");
}

/// An environment ends in order, and not before somebody agreed; its record does not go before its objects.
#[test]
fn an_environment_is_destroyed_in_order() {
    let play = Play::new();
    things(&play);
    assert_eq!(play.run("run old.luau --env prod --allow-exec sh").code, 0);
    play.run("delete env/prod --yes").fails(3, &["has objects", "sexton destroy --env prod"]);
    play.run("destroy --env prod").fails(3, &["all 3 of prod", "--approve", "--yes"]);
    let shown = play.run("destroy --env prod --dry-run");
    assert!(shown.out.contains("Thing kept"), "{shown:?}");
    assert!(shown.out.contains("its environment is destroyed"), "{shown:?}");
    assert!(!play.path().join("notes").exists());
    let digest = shown.err.split("--approve ").nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    let ended = play.run(&format!("destroy --env prod --approve {digest}"));
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.out.contains("prod is gone, 3 with it"), "{ended:?}");
    play.run("get env -o name").says("");
    play.run("get things -n prod -o name").says("");
    assert_eq!(play.run("destroy --env prod").code, 0, "twice is no mistake");
}

/// One run at a time, also if the other one runs elsewhere.
#[test]
fn two_runs_at_once_on_a_server() {
    let play = Play::new();
    things(&play);
    let server = Server::start(&play.data(), &[]);
    let on = format!("--server {}", server.url);
    assert_eq!(play.run(&format!("run old.luau --env prod --allow-exec sh {on}")).code, 0);
    play.file("notes.hold", "");
    let mut first = play.command(&format!("run new.luau --env prod --allow-exec sh {on}")).spawn().unwrap();
    wait_for_notes(&play);
    for command in ["run old.luau --env prod", "destroy --env prod --yes"] {
        let second = play.run(&format!("{command} {on}"));
        assert_eq!(second.code, 5, "{command}: {second:?}");
    }
    std::fs::remove_file(play.path().join("notes.hold")).unwrap();
    assert!(first.wait().unwrap().success());
    play.run(&format!("get things -n prod -o name {on}"))
        .says("thing.classes.sexton.dev/kept\nthing.classes.sexton.dev/made\n");
}

/// A model that the server refuses is shown, and can be given up or stored without what is refused.
#[test]
fn a_model_that_is_refused_can_be_given_up() {
    let play = Play::new();
    things(&play);
    assert_eq!(play.run("run old.luau --env prod --allow-exec sh").code, 0);
    let definition = play.run("get crd/things.classes.sexton.dev -o json").out;
    let mut definition: serde_json::Value = serde_json::from_str(&definition).unwrap();
    definition["metadata"] = serde_json::json!({"name": "things.classes.sexton.dev"});
    definition.as_object_mut().unwrap().remove("status");
    let spec = serde_json::json!({"type": "object", "required": ["size"], "x-kubernetes-preserve-unknown-fields": true});
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"] =
        serde_json::json!({"spec": spec});
    play.file("strict.json", &definition.to_string());
    assert_eq!(play.run("put -f strict.json --force-conflicts").code, 0);
    play.run("run new.luau --env prod").fails(1, &["Thing/made was not stored", "sexton environments prod"]);
    for command in ["run old.luau --env prod --yes", "run old.luau --env prod --dry-run"] {
        play.run(command).fails(1, &["not completely stored", "sexton environments give-up prod"]);
    }
    let shown = play.run("environments prod");
    assert!(shown.out.contains("thing/made  not stored") && shown.out.contains("size"), "{shown:?}");
    assert!(play.run("environments").out.contains("not completely stored"));
    play.run("environments retry prod").fails(1, &["Thing/made was not stored"]);
    play.run("environments retry prod --without thing/nothing").fails(1, &["no thing/nothing"]);
    play.run("environments give-up prod").fails(3, &["needs a yes", "give-up prod --yes"]);
    let stored = play.run("environments retry prod --without thing/made");
    assert!(stored.code == 0 && stored.out.contains("the model of prod is completely stored"), "{stored:?}");
    play.run("run new.luau --env prod").fails(1, &["Thing/made was not stored"]);
    let given_up = play.run("environments give-up prod --yes");
    assert!(given_up.code == 0 && given_up.out.contains("programs can be run in it again"), "{given_up:?}");
    let next = play.run("run old.luau --env prod --dry-run");
    assert_eq!(next.code, 0, "{next:?}");
}
