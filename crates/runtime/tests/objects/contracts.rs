//! Classes and contracts: what may be declared, created and set; what is refused changes nothing.

use std::collections::BTreeMap;
use std::rc::Rc;

use sexton_runtime::model::Model;
use sexton_runtime::world::{
    Class, ClassSpec, Contract, CreateError, DeclareError, NewObject, NoCode, ObjectId, Property, SetError,
    Usage, Value, World,
};

fn declare(
    world: &World,
    name: &str,
    extends: Option<&str>,
    properties: &[(&str, Property)],
) -> Result<Class, DeclareError> {
    let properties = properties.iter().map(|(name, property)| ((*name).to_owned(), property.clone()));
    world.declare(ClassSpec {
        name: name.into(),
        extends: extends.map(Into::into),
        properties: properties.collect(),
        behavior: Rc::new(NoCode),
    })
}

fn given(values: &[(&str, Value)]) -> NewObject {
    let properties = values.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    NewObject { properties, ..NewObject::default() }
}

fn world() -> World {
    let world = World::numbered();
    declare(&world, "Disk", None, &[("size", Property::new(Usage::In, Contract::Number).required())])
        .unwrap();
    declare(&world, "Fast", Some("Disk"), &[]).unwrap();
    let disks = Contract::List(Box::new(Contract::Object("Disk".into())));
    let properties = [
        ("disks", Property::new(Usage::InOut, disks)),
        ("tags", Property::new(Usage::In, Contract::Map(Box::new(Contract::String)))),
        ("on", Property::new(Usage::Runtime, Contract::Bool).required().with_default(Value::Bool(false))),
        ("main", Property::new(Usage::InOut, Contract::Object("Disk".into()))),
    ];
    declare(&world, "Vm", None, &properties).unwrap();
    world
}

/// REQ-MUR-31: a value that does not meet its contract is refused with its place, and nothing changes.
#[test]
fn contracts_are_kept() {
    let world = world();
    let disk = world.create("Fast", given(&[("size", Value::Number(1.0))])).unwrap();
    let vm = world.create("Vm", NewObject::default()).unwrap();
    assert_eq!(vm.get("on"), Value::Bool(false));
    vm.set("disks", Value::List(vec![Value::from(&disk)])).unwrap();
    for (name, value, expected) in [
        (
            "disks",
            Value::List(vec![Value::from(&disk), Value::from(&vm)]),
            "Vm: disks[1] must be a Disk, not a Vm",
        ),
        ("disks", Value::List(vec![Value::Null]), "Vm: disks[0] must be a Disk, not null"),
        ("disks", Value::from(&disk), "Vm: disks must be a list of which each is a Disk, not a Fast"),
        ("on", Value::Null, "Vm: on must be a boolean, not null"),
        (
            "tags",
            Value::Map([("a".to_owned(), Value::Bool(true))].into()),
            "Vm: tags.a must be a string, not a boolean",
        ),
        ("nothing", Value::Null, "class Vm declares no property nothing"),
    ] {
        assert_eq!(vm.set(name, value).unwrap_err().to_string(), expected);
    }
    assert_eq!(vm.get("disks"), Value::List(vec![Value::from(&disk)]));
    assert!(matches!(vm.set_private("on", Value::Null), Err(SetError::Declared { .. })));
    let endless = Value::Number(f64::INFINITY);
    assert!(disk.set("size", endless).unwrap_err().to_string().ends_with("must be a finite number, not inf"));
}

/// REQ-MUR-1: what a new object lacks or has too much is refused, and there is none.
#[test]
fn creation_is_checked() {
    let world = world();
    let refused = |class: &str, new: NewObject| world.create(class, new).unwrap_err().to_string();
    assert_eq!(refused("Disk", NewObject::default()), "Disk: size must be a number, not null");
    assert_eq!(refused("Disk", given(&[("x", Value::Null)])), "class Disk declares no property x");
    assert_eq!(refused("Nothing", NewObject::default()), "there is no class Nothing");
    let id = Some(ObjectId::new("one").unwrap());
    let one = world.create("Vm", NewObject { id: id.clone(), ..NewObject::default() }).unwrap();
    let again = world.create("Vm", NewObject { id, ..NewObject::default() }).unwrap_err();
    assert!(matches!(again, CreateError::DuplicateId(_)));
    assert_eq!((world.len(), one.class().name()), (1, "Vm"));
    let other = World::new();
    declare(&other, "Vm", None, &[]).unwrap();
    let foreign = NewObject { owner: Some(one.clone()), ..NewObject::default() };
    assert_eq!(other.create("Vm", foreign).unwrap_err(), CreateError::ForeignOwner);
    let deep = (0..100).fold(Value::Null, |value, _| Value::List(vec![value]));
    assert!(one.set_private("deep", deep).unwrap_err().to_string().contains("nested more than 64 deep"));
}

/// REQ-MUR-77: what a class declares, its children have; they may not declare it otherwise.
#[test]
fn declarations_are_checked() {
    let world = world();
    let text = |contract| Property::new(Usage::In, contract);
    let same = text(Contract::Number).with_default(Value::Number(7.0));
    declare(&world, "Big", Some("Disk"), &[("size", same)]).unwrap();
    assert_eq!(world.create("Big", NewObject::default()).unwrap().get("size"), Value::Number(7.0));
    let refused = |name: &str, extends, properties: &[(&str, Property)]| {
        declare(&world, name, extends, properties).unwrap_err().to_string()
    };
    assert_eq!(refused("Disk", None, &[]), "class Disk is declared already");
    assert_eq!(refused("X", Some("Y"), &[]), "class X extends Y, which is not declared");
    assert_eq!(
        refused("X", Some("Disk"), &[("size", text(Contract::String))]),
        "property size of class X is declared by Disk with another usage or contract"
    );
    let wrong = text(Contract::Bool).with_default(Value::from("x"));
    assert_eq!(refused("X", None, &[("a", wrong)]), "the default of X: a must be a boolean, not a string");
    assert!(world.class("X").is_none());
}

/// EXT-27: where a contract asks for an object, a model may name it by its id.
#[test]
fn models_may_refer_by_a_plain_id() {
    let world = world();
    let text = r#"{"Objects": {"?": {"type": "Vm", "id": "vm"}, "main": "d", "disks": ["d"], "tags": {"a": "d"}},
        "Also": [{"?": {"type": "Disk", "id": "d", "owner": "vm"}, "size": 1}]}"#;
    let imported = Model::parse(text).unwrap().import(&world).unwrap();
    let vm = imported.root.clone().unwrap();
    let disk = Value::Object(imported.objects[1].clone());
    assert_eq!((vm.get("main"), vm.get("disks")), (disk.clone(), Value::List(vec![disk])));
    assert_eq!(vm.get("tags"), Value::Map(BTreeMap::from([("a".to_owned(), Value::from("d"))])));
    assert_eq!(imported.objects[1].owner(), Some(vm));
    let wrong = r#"{"?": {"type": "Vm", "id": "v2"}, "main": {"?": {"type": "Disk", "id": "d2"}}}"#;
    let error = Model::parse(wrong).unwrap().import(&world).unwrap_err();
    assert_eq!(error.to_string(), "$.main: size must be a number, not null");
    assert_eq!(world.len(), 2);
}
