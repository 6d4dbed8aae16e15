//! Classes and objects in scripts: what can be declared, read, written and called, and what cannot.

use crate::harness::{deploy, refused, run};

/// Declarations before `deploy`, and its body.
fn program(classes: &str, body: &str) -> String {
    format!("format \"1.4\"\n{classes}\nfunction deploy(env)\n{body}\nend\n")
}

const SHAPES: &str = r#"
local Shape = class("Shape", {
    properties = {
        name = { usage = "In", type = "string", required = true },
        tags = { usage = "InOut", type = "list", of = "string", default = {} },
        facts = { usage = "Out", type = "map" },
        parent = { usage = "Runtime", type = "Shape" },
        made = { usage = "Static", type = "number", default = 0 },
    },
    init = function(self) self._secret = "s-" .. self.name; Shape_made(self) end,
    describe = function(self) return "shape " .. self.name end,
    secret = function(self) return self._secret end,
    peek = function(self, other) return other._secret end,
    later = function(self) sleep(0) return self._secret end,
    spoil = function(self) error("spoiled") end,
})
function Shape_made(self) self.made = self.made + 1 end
local Square = class("Square", {
    extends = Shape,
    properties = { side = { usage = "InOut", type = "number", default = 1 } },
    init = function(self) self._area = self.side * self.side end,
    describe = function(self) return "square, a " .. Shape.describe(self) .. " of " .. self._area end,
})
"#;

fn shapes(body: &str) -> crate::harness::Ran {
    run(&program(SHAPES, body))
}

#[test]
fn properties_methods_and_inheritance() {
    let body = r#"
        local a = new(Shape, { name = "a" })
        local b = new(Square, { name = "b", side = 3, parent = a, tags = { "x", "y" } }, a, "bee")
        log(a.name, a.tags, #a.tags, a.facts, a.parent, a.made, Shape.made, Square.made)
        log(b.name, b.side, b.parent == a, b.tags[2], b:describe(), a:describe())
        log(Object.id(b), Object.name(b), Object.owner(b) == a, Object.class(b), Object.is(b, Shape), Object.is(a, Square))
        log(tostring(a), tostring(b), typeof(a), tostring(Shape), typeof(Square))
        a.facts = { deep = { list = { 1, 2, { a } } } }
        log(a.facts.deep.list[3][1] == a)
        b.parent = nil
        log(b.parent)
        log(b:secret(), b:later(), b.made)
    "#;
    let said = shapes(&body.replace("a.tags, #a.tags", "#a.tags")).said();
    assert_eq!(
        said,
        "a 0 nil nil 2 2 2\nb 3 true y square, a shape b of 9 shape a\n3 bee true Square true false\n\
        Shape 2 (a) Square 3 (bee) object class Shape class\ntrue\nnil\ns-b s-b 2"
    );
}

#[test]
fn an_object_is_one_thing_however_it_is_reached() {
    let body = r#"
        local a = new(Shape, { name = "a" })
        local seen = { [a] = "first" }
        local b = new(Shape, { name = "b", parent = a })
        log(b.parent == a, seen[b.parent], rawequal(a, b.parent), a == b)
    "#;
    assert_eq!(shapes(body).said(), "true first true false");
}

#[test]
fn what_is_read_is_a_copy_and_cannot_be_written() {
    let body = r#"
        local a = new(Shape, { name = "a", tags = { "x" } })
        log(pcall(function() a.tags[2] = "y" end))
        local tags = table.clone(a.tags)
        table.insert(tags, "y")
        a.tags = tags
        tags[1] = "changed"
        log(table.concat(a.tags, ","))
    "#;
    let said = shapes(body).said();
    assert!(said.starts_with("false test.luau:"), "{said}");
    assert!(said.contains("attempt to modify a readonly table"), "{said}");
    assert!(said.ends_with("\nx,y"), "{said}");
}

#[test]
fn contracts_are_kept() {
    let line = "\n        ";
    for (statement, words) in [
        ("new(Shape, {})", "Shape: name must be a string, not null"),
        ("new(Shape, { name = 1 })", "Shape: name must be a string, not a number"),
        ("new(Shape, { name = 'x', size = 1 })", "class Shape declares no property size"),
        ("new(Shape, { name = 'x', tags = { 'a', 2 } })", "Shape: tags[1] must be a string, not a number"),
        ("new(Shape, { 'x' })", "properties of a new object have names"),
        ("new(Shape, 'x')", "properties are a table, not a string"),
        ("new('Circle', {})", "new wants a class, and Circle is none"),
        ("new(nil, {})", "this is a nil (within its own declaration a class is known by its name only"),
        ("new(Shape, { name = 'x' }, 'me')", "an object was expected, not a string"),
        ("a.name = nil", "Shape: name must be a string, not null"),
        ("a.parent = env", "Shape: parent must be a Shape, not a Environment"),
        ("a.facts = { 1, x = 2 }", "Shape.facts: a table is a list or has texts as keys, not both"),
        (
            "a.facts = { [1.5] = 2 }",
            "Shape.facts: a table is a list from 1 on or has texts as keys; this one has a number",
        ),
        ("a.facts = { f = print }", "Shape.facts: a function cannot be kept in an object"),
        ("a.facts = { c = Shape }", "Shape.facts: a class cannot be kept in an object; keep its name"),
        ("a.facts = { t = spawn(print) }", "Shape.facts: "),
        ("a.facts = string.rep('x', 2e6)", "Shape.facts: it is larger than 1048576 bytes"),
        (
            "local t = {} t.t = t a.facts = t",
            "Shape.facts: it is nested more than 64 deep, or contains itself",
        ),
        ("a.name = '\\255'", "Shape.name: a text that is not UTF-8 cannot be kept"),
        ("Shape.made = 'many'", "Shape: made must be a number, not a string"),
        ("Shape.other = 1", "class Shape declares no static property other"),
        ("log(Shape.other)", "class Shape has no static property or method other"),
        ("a.describe = 1", "describe is a method of class Shape"),
        (
            "a._x = 1",
            "class Shape has no property or method _x; private properties are for methods of their object",
        ),
        ("log(a._secret)", "class Shape has no property or method _secret"),
        ("log(a[1])", "properties of Shape have names, not numbers"),
        ("a:peek(b)", "class Shape has no property or method _secret"),
        ("a.describe()", "describe is a method of Shape: call it with a colon"),
        ("Square.describe(a)", "describe is a method of Square, and this is a Shape"),
        ("a:destroy()", "class Shape has no property or method destroy"),
        ("a:init()", "init is called by new, for every class of an object"),
        ("class('New', {})", "classes are declared by the text of a program, not while it works"),
    ] {
        let body = format!(
            "local a, b = new(Shape, {{ name = 'a' }}), new(Shape, {{ name = 'b' }}){line}{statement}"
        );
        let ran = shapes(&body);
        let error = ran.error();
        assert!(error.starts_with("test.luau:") && error.contains(words), "{statement}: {error}");
        let a = ran.loaded.world.find(&sexton_runtime::world::ObjectId::new("2").unwrap()).unwrap();
        assert_eq!(a.get("name"), "a".into(), "{statement}: the object is as it was");
        assert_eq!(a.get("facts"), sexton_runtime::world::Value::Null, "{statement}");
    }
}

#[test]
fn errors_of_methods_have_a_place_and_leave_the_caller_right() {
    let body = r#"
        local a = new(Shape, { name = "a" })
        log(pcall(function() a:spoil() end))
        log(pcall(function() return a._secret end))
        a:spoil()
    "#;
    let ran = shapes(body);
    assert_eq!(ran.said[0], "false test.luau:16: spoiled");
    assert!(ran.said[1].contains("no property or method _secret"), "{}", ran.said[1]);
    let error = ran.error();
    assert!(error.starts_with("test.luau:16: spoiled\n  test.luau:16: in function 'spoil'"), "{error}");
    assert!(error.contains("in function 'deploy'") && !error.contains("sexton"), "{error}");
}

#[test]
fn a_failed_init_leaves_no_object() {
    let classes = r#"
        kept = nil
        Bad = class("Bad", { init = function(self) kept = self; error("no luck") end, hello = function(self) end })
        Worse = class("Worse", { extends = Bad, init = function(self) log("not reached") end })
    "#;
    let body = r#"
        log(pcall(new, Worse, {}))
        log(pcall(function() kept:hello() end))
        kept = nil
    "#;
    let ran = run(&program(classes, body));
    let said = ran.said();
    assert!(said.contains("init of Bad: test.luau:4: no luck"), "{said}");
    assert!(said.contains("has no methods: its init failed"), "{said}");
    assert_eq!(ran.loaded.world.find(&sexton_runtime::world::ObjectId::new("2").unwrap()), None);
}

/// REQ-MUR-1, REQ-MUR-45: an object with a failed `init` disappears, wherever its `init` put it: properties and statics
/// do not refer to it and cannot be made to, and objects that it created are garbage.
#[test]
fn nothing_refers_to_an_object_whose_init_failed() {
    let classes = r#"
        kept = nil
        Child = class("Child", { destroy = function(self) log("destroy child") end })
        Bad = class("Bad", {
            properties = { child = { usage = "InOut", type = Child }, registry = { usage = "Static", type = "map" } },
            init = function(self)
                kept = self
                self.child = new(Child, {}, self)
                local holder = Object.owner(self)
                holder.one, holder.many, holder.named = self, { self, holder, { self } }, { bad = self, good = holder }
                holder:keep(self)
                Bad.registry = { bad = self, good = holder }
                error("no luck")
            end,
        })
        Holder = class("Holder", {
            properties = { one = "InOut", many = "InOut", named = "Runtime" },
            keep = function(self, other) self._other = other end,
            kept = function(self) return self._other end,
        })
    "#;
    let body = r#"
        local holder = new(Holder, {})
        log(pcall(new, Bad, {}, holder))
        log(holder.one, #holder.many, holder.many[1] == holder, #holder.many[2], holder:kept())
        log(holder.named.bad, holder.named.good == holder, Bad.registry.bad, Bad.registry.good == holder)
        for _, refer in {
            function() holder.one = kept end,
            function() holder.many = { kept } end,
            function() holder:keep(kept) end,
            function() Bad.registry = { bad = kept } end,
            function() new(Holder, { one = kept }) end,
            function() new(Child, {}, kept) end,
        } do
            log(pcall(refer))
        end
        kept = nil
        log(GC.collect().destroyed)
    "#;
    let ran = run(&program(classes, body));
    let said = ran.said();
    assert!(said.contains("init of Bad: test.luau:14: no luck"), "{said}");
    assert!(said.contains("\nnil 2 true 0 nil\nnil true nil true\n"), "{said}");
    assert_eq!(said.matches("cannot be referred to: its init failed").count(), 5, "{said}");
    assert_eq!(said.matches("cannot own anything: its init failed").count(), 1, "{said}");
    assert!(said.ends_with("destroy child\n1"), "{said}");
}

#[test]
fn objects_are_counted() {
    let limits = sexton_runtime::lua::Limits { objects: 10, ..Default::default() };
    let host = sexton_runtime::lua::Host { limits, ..Default::default() };
    let ran =
        crate::harness::run_with(&program(SHAPES, "while true do new(Shape, { name = 'x' }) end"), host);
    assert!(ran.error().contains("there are 10 objects, and may not be more"), "{}", ran.error());
}

#[test]
fn what_objects_hold_is_counted() {
    let limits = sexton_runtime::lua::Limits { world: 1 << 20, ..crate::harness::patient() };
    let host = || sexton_runtime::lua::Host { limits: limits.clone(), ..Default::default() };
    for body in [
        "while true do new(Shape, { name = string.rep('x', 1e4) }) end",
        "while true do new(Shape, { name = '' }) end",
        "local last while true do last = new(Shape, { name = 'x', tags = { string.rep('x', 1e4) }, parent = last }) end",
    ] {
        let ran = crate::harness::run_with(&program(SHAPES, body), host());
        let words = "all objects together may hold 1048576 bytes, and not more";
        assert!(ran.error().contains(words), "{body}: {}", ran.error());
    }
    let body = "local a = new(Shape, { name = 'a' })\nfor i = 1, 200 do a.name = string.rep('x', 1e4) end\nlog(#a.name)";
    let ran = crate::harness::run_with(&program(SHAPES, body), host());
    assert_eq!(ran.said(), "10000", "what is overwritten does not count");
}

#[test]
fn methods_may_call_each_other_deep_and_pause_anywhere() {
    let classes = r#"
        Node = class("Node", {
            properties = { child = "InOut" },
            depth = function(self) if not self.child then sleep(0) return 1 end return 1 + self.child:depth() end,
        })
        Nest = class("Nest", {
            properties = { left = { usage = "In", type = "number" } },
            init = function(self) if self.left > 0 then self._inner = new(Nest, { left = self.left - 1 }) end end,
        })
    "#;
    let body = r#"
        local top
        for i = 1, 2000 do top = new(Node, { child = top }) end
        log(top:depth())
        new(Nest, { left = 20 })
        log(pcall(new, Nest, { left = 1000 }))
    "#;
    let said = run(&program(classes, body)).said();
    assert!(said.starts_with("2000\nfalse "), "{said}");
    assert!(said.contains("methods call each other too deep"), "{said}");
}

#[test]
fn declarations_that_do_not_fit_are_refused() {
    for (text, words) in [
        ("class('A')", "class A is declared with a table, not a nil"),
        ("class(1, {})", "the name of a class is letters"),
        ("class('a b', {})", "the name of a class is letters"),
        ("class('A', {}) class('A', {})", "class A is declared already"),
        ("class('A', { extends = 'B' })", "class A extends B, which is not declared"),
        ("class('A', { extends = 1 })", "class A extends something that is no class"),
        (
            "class('A', { x = 1 })",
            "x of class A is a number; methods are functions, and properties are declared in",
        ),
        ("class('A', { [1] = print })", "what a class has is named with letters"),
        ("class('A', { properties = 1 })", "properties of class A are a table, not a number"),
        (
            "class('A', { properties = { x = 'Inn' } })",
            "\"Inn\" is no usage; there are In, Out, InOut, Runtime and Static",
        ),
        ("class('A', { properties = { x = {} } })", "property x of class A: its usage is missing"),
        (
            "class('A', { properties = { x = { usage = 'In', typ = 'string' } } })",
            "\"typ\" means nothing here",
        ),
        (
            "class('A', { properties = { x = { usage = 'In', type = 1 } } })",
            "a type is a text or a class, not a number",
        ),
        (
            "class('A', { properties = { x = { usage = 'In', type = 'string', of = 'any' } } })",
            "`of` is said of lists and maps",
        ),
        ("class('A', { properties = { x = { usage = 'In', required = 1 } } })", "required is true or false"),
        (
            "class('A', { properties = { x = { usage = 'In', type = 'string', default = 1 } } })",
            "the default of A: x must be a string",
        ),
        (
            "class('A', { properties = { x = { usage = 'In', type = 'B' } } })",
            "property x of class A is of class B, which is not declared",
        ),
        (
            "class('A', { properties = { x = 'In' }, x = function() end })",
            "x of class A is a property and a method",
        ),
        (
            "local A = class('A', { properties = { x = 'In' } }) class('B', { extends = A, x = function() end })",
            "x of class B is a property and a method",
        ),
        (
            "local A = class('A', { x = function() end }) class('B', { extends = A, properties = { x = 'In' } })",
            "x of class B is a property and a method",
        ),
        ("class('A', { properties = { destroy = 'In' } })", "destroy of class A is a property and a method"),
        ("format(1.4)", "a format is a text of two numbers"),
        ("format '2.0'", "format 2.0 is not understood here, only 1.0 to 1.4"),
        ("format '1.4' format '1.4'", "the format is said once, before any class is declared"),
        ("class('A', {}) format '1.4'", "the format is said once, before any class is declared"),
        ("error('no')", "test.luau:1: no"),
    ] {
        let error = refused(text);
        assert!(error.contains(words), "{text}: {error}");
    }
}

#[test]
fn classes_may_name_each_other_and_the_environment_may_be_their_own() {
    let text = r#"
        class("A", { properties = { b = { usage = "In", type = "B" } } })
        class("B", { properties = { a = { usage = "In", type = "list", of = "A" } } })
        class("Environment", { properties = { things = "InOut" }, hello = function(self) return "mine" end })
        function deploy(env) log(env:hello()) env.things = { new("A", {}) } log(#env.things) end
    "#;
    assert_eq!(run(text).said(), "mine\n1");
    assert_eq!(run(&deploy("env.applications = { env } log(env.applications[1] == env)")).said(), "true");
}
