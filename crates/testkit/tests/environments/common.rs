//! Short ways to run programs in a world, and to look at what is left.

use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;
use sexton_client::Resources;
use sexton_collector::modules::Tools;
use sexton_model::environment::ProgramSpec;
use sexton_runtime::environment::{Ask, Finished, Here, OpenError, Opened, RunError};
use sexton_runtime::gc::Report;
use sexton_runtime::lua::{Grants, Limits, Lines};
use sexton_runtime::model::Model;
use sexton_testkit::World;

/// An application that owns a network and machines; the network goes after all machines, though it does not own them.
pub(crate) const SHOP: &str = r#"
format "1.4"
local Network = class("Network", {
    properties = { name = { usage = "In", type = "string" }, gone = { usage = "Out", type = "number", default = 0 } },
    machineGone = function(self, gc, machine)
        log(gc.phase .. " " .. machine.name)
        if gc.phase == "destroyed" then self.gone = self.gone + 1 end
    end,
    watch = function(self, machine) GC.subscribe(machine, "machineGone") end,
    destroy = function(self) log("destroy " .. self.name) end,
})
local Machine = class("Machine", {
    properties = { name = { usage = "In", type = "string" } },
    destroy = function(self) log("destroy " .. self.name) end,
})
local App = class("App", {
    properties = {
        name = { usage = "In", type = "string" },
        network = { usage = "InOut", type = Network },
        machines = { usage = "InOut", type = "list", default = {} },
    },
    destroy = function(self) log("destroy " .. self.name) end,
})
function machines(app, names)
    local list = {}
    for _, name in names do
        local machine = new(Machine, { name = name }, app)
        app.network:watch(machine)
        table.insert(list, machine)
    end
    app.machines = list
end
"#;

/// The shop with what its `deploy` does.
pub(crate) fn shop(deploy: &str) -> String {
    format!("{SHOP}\nfunction deploy(env)\n{deploy}\nend\n")
}

/// A shop with two machines, made once.
pub(crate) const MAKE: &str = r#"
    if not env.applications or #env.applications == 0 then
        local app = new(App, { name = "shop" }, env)
        app.network = new(Network, { name = "net" }, app)
        machines(app, { "web", "db" })
        env.applications = { app }
    end
"#;

pub(crate) fn tools(world: &World, client: kube::Client, holder: &str) -> Tools {
    let resources = Resources::new(client);
    let gateway = Arc::new(resources.clone());
    Tools {
        resources,
        gateway,
        clock: world.shared_nature(),
        by: "ada".into(),
        holder: holder.into(),
        alone: false,
        allowance: None,
    }
}

/// What a run is given; a test changes it.
pub(crate) fn ask(program: &str, words: &Rc<Lines>) -> Ask {
    Ask {
        environment: "prod".into(),
        program: ProgramSpec { name: "shop.luau".into(), source: program.into(), ..ProgramSpec::default() },
        revoked: Grants::default(),
        model: None,
        allow_empty: true,
        limits: Limits::default(),
        fuse: "100%".parse().unwrap(),
        output: words.clone(),
        trace: false,
        preview: false,
        alone: false,
        here: Here::Granted,
    }
}

/// What came of a run.
#[derive(Debug, Default)]
pub(crate) struct Ran {
    pub(crate) words: Vec<String>,
    pub(crate) removed: Report,
    pub(crate) failed: Option<String>,
    pub(crate) finished: Finished,
}

/// Runs a program with a model, to its end.
pub(crate) async fn run_with(world: &World, program: &str, model: Option<Model>) -> Ran {
    let words = Rc::new(Lines::default());
    let ask = Ask { model, ..ask(program, &words) };
    let opened = Opened::open(&tools(world, world.kube(), "tests"), ask).await.unwrap();
    let mut ran = to_the_end(opened).await;
    ran.words = words.take();
    ran
}

pub(crate) async fn to_the_end(mut opened: Opened) -> Ran {
    let mut ran = Ran::default();
    let mut failed: Option<RunError> = None;
    match opened.remove().await {
        Ok(report) => ran.removed = report,
        Err(error) => failed = Some(error),
    }
    if failed.is_none() && ran.removed.is_complete() {
        failed = opened.deploy().await.err();
    }
    ran.finished = opened.finish(failed.as_ref()).await.unwrap();
    ran.failed = failed.map(|error| error.to_string());
    ran
}

pub(crate) async fn run(world: &World, program: &str) -> Ran {
    run_with(world, program, None).await
}

/// Why a program could not be run.
pub(crate) async fn refused(world: &World, program: &str) -> OpenError {
    let words = Rc::new(Lines::default());
    let opened = Opened::open(&tools(world, world.kube(), "tests"), ask(program, &words)).await;
    match opened {
        Ok(_) => panic!("it was opened"),
        Err(error) => error,
    }
}

/// Opens an environment for a program.
pub(crate) async fn open(world: &World, program: &str) -> Result<Opened, OpenError> {
    let words = Rc::new(Lines::default());
    Opened::open(&tools(world, world.kube(), "tests"), ask(program, &words)).await
}

/// The objects of a class, by name.
pub(crate) async fn objects(world: &World, plural: &str) -> Vec<Value> {
    let path = format!("/apis/classes.sexton.dev/v1/namespaces/prod/{plural}");
    let listed = world.get(&path).await;
    listed.json["items"].as_array().cloned().unwrap_or_default()
}

pub(crate) async fn names(world: &World, plural: &str) -> Vec<String> {
    let found = objects(world, plural).await;
    found.iter().map(|one| one["metadata"]["name"].as_str().unwrap().to_owned()).collect()
}

/// Those of them that were not destroyed.
pub(crate) async fn living(world: &World, plural: &str) -> Vec<String> {
    let destroyed = |one: &Value| one["metadata"]["annotations"]["sexton.dev/destroyed"] == "true";
    let found = objects(world, plural).await.into_iter().filter(|one| !destroyed(one));
    found.map(|one| one["metadata"]["name"].as_str().unwrap().to_owned()).collect()
}

pub(crate) async fn record(world: &World) -> Value {
    world.get("/apis/sexton.dev/v1/environments/prod").await.document(200)
}
