//! Random programs against a naive model of references: a collection destroys exactly the unreferenced objects.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use proptest::prelude::*;

/// Locals of the program, and places of its table.
const PLACES: usize = 5;

#[derive(Debug, Clone, Copy)]
enum Step {
    New(usize),
    Copy(usize, usize),
    Clear(usize),
    Link(usize, usize),
    Unlink(usize),
    Put(usize, usize),
    Take(usize),
    Hold(usize),
    Release,
    Call(usize, usize),
    Temporary,
    Fail(usize),
    Capture(usize),
    Collect,
}

fn step() -> impl Strategy<Value = Step> {
    let place = 0..PLACES;
    prop_oneof![
        4 => place.clone().prop_map(Step::New),
        2 => (place.clone(), place.clone()).prop_map(|(a, b)| Step::Copy(a, b)),
        3 => place.clone().prop_map(Step::Clear),
        4 => (place.clone(), place.clone()).prop_map(|(a, b)| Step::Link(a, b)),
        1 => place.clone().prop_map(Step::Unlink),
        2 => (place.clone(), place.clone()).prop_map(|(a, b)| Step::Put(a, b)),
        2 => place.clone().prop_map(Step::Take),
        2 => place.clone().prop_map(Step::Hold),
        1 => Just(Step::Release),
        2 => (place.clone(), place.clone()).prop_map(|(a, b)| Step::Call(a, b)),
        1 => Just(Step::Temporary),
        1 => place.clone().prop_map(Step::Fail),
        1 => place.prop_map(Step::Capture),
        3 => Just(Step::Collect),
    ]
}

/// The references between objects, by label.
#[derive(Default)]
struct Naive {
    last: usize,
    alive: BTreeSet<usize>,
    locals: [Option<usize>; PLACES],
    table: [Option<usize>; PLACES],
    held: Vec<usize>,
    captured: Option<usize>,
    links: BTreeMap<usize, usize>,
}

impl Naive {
    fn create(&mut self) -> usize {
        self.last += 1;
        self.alive.insert(self.last);
        self.last
    }

    fn step(&mut self, step: Step) -> Option<String> {
        match step {
            Step::New(at) => self.locals[at] = Some(self.create()),
            Step::Copy(to, from) => self.locals[to] = self.locals[from],
            Step::Clear(at) => self.locals[at] = None,
            Step::Link(from, to) => {
                if let (Some(from), Some(to)) = (self.locals[from], self.locals[to]) {
                    self.links.insert(from, to);
                }
            }
            Step::Unlink(at) => _ = self.locals[at].and_then(|from| self.links.remove(&from)),
            Step::Put(to, from) => self.table[to] = self.locals[from],
            Step::Take(at) => self.table[at] = None,
            Step::Hold(at) => self.held.extend(self.locals[at]),
            Step::Release => self.held.clear(),
            Step::Call(at, _) => _ = self.locals[at].map(|_| self.create()),
            Step::Temporary => _ = self.create(),
            Step::Fail(_) => {}
            Step::Capture(at) => self.captured = self.locals[at],
            Step::Collect => return Some(self.collect()),
        }
        None
    }

    fn collect(&mut self) -> String {
        let places = self.locals.iter().chain(&self.table).chain([&self.captured]);
        let mut left: Vec<usize> = places.flatten().chain(&self.held).copied().collect();
        let mut reached = BTreeSet::new();
        while let Some(one) = left.pop() {
            if reached.insert(one) {
                left.extend(self.links.get(&one));
            }
        }
        let gone: Vec<String> = self.alive.difference(&reached).map(usize::to_string).collect();
        self.alive = reached;
        format!("gone: {}", gone.join(" ")).trim_end().to_owned()
    }
}

const HEAD: &str = r#"
format "1.4"
local last, gone, released, table_, captured = 0, {}, false, {}, nil
local Thing = class("Thing", {
    properties = { label = { usage = "In", type = "number" }, other = "InOut" },
    destroy = function(self) table.insert(gone, self.label) end,
    touch = function(self, other)
        last += 1
        local inside = new("Thing", { label = last, other = other })
        sleep(0)
        return inside.label
    end,
})
local function make()
    last += 1
    return new(Thing, { label = last })
end
local function collect()
    gone = {}
    GC.collect()
    table.sort(gone)
    log((string.gsub("gone: " .. table.concat(gone, " "), " $", "")))
end
function deploy(env)
local v0, v1, v2, v3, v4
local threads = {}
"#;

fn text(steps: &[Step]) -> String {
    let mut text = HEAD.to_owned();
    for step in steps {
        let written = match *step {
            Step::New(a) => writeln!(text, "v{a} = make()"),
            Step::Copy(a, b) => writeln!(text, "v{a} = v{b}"),
            Step::Clear(a) => writeln!(text, "v{a} = nil"),
            Step::Link(a, b) => writeln!(text, "if v{a} and v{b} then v{a}.other = v{b} end"),
            Step::Unlink(a) => writeln!(text, "if v{a} then v{a}.other = nil end"),
            Step::Put(a, b) => writeln!(text, "table_[{a}] = v{b}"),
            Step::Take(a) => writeln!(text, "table_[{a}] = nil"),
            Step::Hold(a) => writeln!(
                text,
                "table.insert(threads, spawn(function(x) local until_ = released while released == until_ do sleep(0) \
                end end, v{a})) sleep(0)"
            ),
            Step::Release => {
                writeln!(text, "released = not released for _, t in threads do join(t) end threads = {{}}")
            }
            Step::Call(a, b) => writeln!(text, "if v{a} then v{a}:touch(v{b}) end"),
            Step::Temporary => writeln!(text, "make()"),
            Step::Fail(a) => writeln!(text, "pcall(function() local x = v{a} error({{ x }}) end)"),
            Step::Capture(a) => writeln!(text, "do local x = v{a} captured = function() return x end end"),
            Step::Collect => writeln!(text, "collect()"),
        };
        written.unwrap();
    }
    text + "released = not released\nend\n"
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 100, ..ProptestConfig::default() })]

    /// REQ-MUR-41, REQ-MUR-42, REQ-MUR-45: exactly what no local, table, upvalue or thread holds is collected.
    #[test]
    fn exactly_what_nobody_holds_is_collected(mut steps in prop::collection::vec(step(), 1..60)) {
        steps.push(Step::Collect);
        let mut naive = Naive::default();
        let expected: Vec<String> = steps.iter().filter_map(|step| naive.step(*step)).collect();
        let text = text(&steps);
        let limits = sexton_runtime::lua::Limits { whole_run: std::time::Duration::from_secs(120), ..Default::default() };
        let ran = crate::harness::run_with(&text, sexton_runtime::lua::Host { limits, ..Default::default() });
        prop_assert_eq!(ran.said(), expected.join("\n"), "{}", &text[HEAD.len()..]);
    }
}
