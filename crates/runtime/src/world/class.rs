//! Classes: their properties, the class that each extends, and their code.

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use hashbrown::HashMap;

use super::contract::ContractError;
use super::{Behavior, Property, StoredValue, Usage, Value, World};

/// The longest chain of parents that is accepted.
const MAX_PARENTS: usize = 64;

/// The declaration of a class.
pub struct ClassSpec {
    /// Its name, unique in its world.
    pub name: String,
    /// The name of the class that it extends, if any.
    pub extends: Option<String>,
    /// The properties that it declares itself, by name.
    pub properties: BTreeMap<String, Property>,
    /// Its code.
    pub behavior: Rc<dyn Behavior>,
}

/// A declared class of a world. Clones are the same class.
#[derive(Clone)]
pub struct Class(Rc<ClassData>);

struct ClassData {
    number: u32,
    name: Rc<str>,
    parent: Option<Class>,
    /// All non-static properties of an object, those of the parents first. The position of a property here is its index
    /// in [`super::object::Object::fields`].
    layout: Vec<(Rc<str>, Property)>,
    /// The position in `layout` of each property.
    field_indexes: HashMap<Rc<str>, usize>,
    /// The static properties that it declares itself.
    statics: BTreeMap<Rc<str>, Property>,
    behavior: Rc<dyn Behavior>,
    has_destroy: bool,
}

/// Why a class cannot be declared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeclareError {
    /// A class with this name exists.
    #[error("class {0} is declared already")]
    Duplicate(String),
    /// The name is empty or contains spaces or control characters.
    #[error("{0:?} is no name for a class")]
    Name(String),
    /// The class that it extends does not exist.
    #[error("class {class} extends {parent}, which is not declared")]
    UnknownParent {
        /// The class.
        class: String,
        /// The name of the missing class.
        parent: String,
    },
    /// The chain of parents is too long.
    #[error("class {0} has more than {MAX_PARENTS} parents")]
    TooManyParents(String),
    /// A parent declares the property with another usage or contract.
    #[error("property {property} of class {class} is declared by {parent} with another usage or contract")]
    Redeclared {
        /// The class.
        class: String,
        /// The property.
        property: String,
        /// The parent.
        parent: String,
    },
    /// The default value of a property does not meet its contract.
    #[error("the default of {class}: {error}")]
    Default {
        /// The class.
        class: String,
        /// What is wrong.
        error: ContractError,
    },
    /// The default value contains an object. A default is shared by all objects of the class.
    #[error("the default of {class}.{property} refers to an object")]
    ObjectInDefault {
        /// The class.
        class: String,
        /// The property.
        property: String,
    },
}

/// The classes of a world.
#[derive(Default)]
pub(super) struct Classes {
    all: Vec<Class>,
    by_name: HashMap<Rc<str>, u32>,
    /// Values of static properties, by class number and property name.
    pub(super) statics: HashMap<(u32, Rc<str>), StoredValue>,
}

impl World {
    /// Declares a class. None of its code runs.
    ///
    /// # Errors
    /// See [`DeclareError`]; nothing is declared in that case.
    pub fn declare(&self, spec: ClassSpec) -> Result<Class, DeclareError> {
        let parent = self.check_spec(&spec)?;
        let mut layout = parent.as_ref().map_or_else(Vec::new, |parent| parent.0.layout.clone());
        let mut field_indexes =
            parent.as_ref().map_or_else(HashMap::new, |parent| parent.0.field_indexes.clone());
        let mut statics = BTreeMap::new();
        for (name, property) in spec.properties {
            let name: Rc<str> = name.into();
            if property.usage == Usage::Static {
                statics.insert(name, property);
            } else if let Some(place) = field_indexes.get(&name) {
                layout[*place].1 = property;
            } else {
                field_indexes.insert(name.clone(), layout.len());
                layout.push((name, property));
            }
        }
        let mut classes = self.inner.classes.borrow_mut();
        let number = classes.all.len() as u32;
        let inherited = parent.as_ref().is_some_and(Class::has_destroy);
        let class = Class(Rc::new(ClassData {
            number,
            name: spec.name.into(),
            parent,
            layout,
            field_indexes,
            statics,
            has_destroy: inherited || spec.behavior.has("destroy"),
            behavior: spec.behavior,
        }));
        classes.by_name.insert(class.0.name.clone(), number);
        classes.all.push(class.clone());
        Ok(class)
    }

    fn check_spec(&self, spec: &ClassSpec) -> Result<Option<Class>, DeclareError> {
        let class = || spec.name.clone();
        if spec.name.is_empty() || spec.name.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err(DeclareError::Name(class()));
        }
        if self.class(&spec.name).is_some() {
            return Err(DeclareError::Duplicate(class()));
        }
        let unknown =
            |parent: &String| DeclareError::UnknownParent { class: class(), parent: parent.clone() };
        let parent = spec.extends.as_ref().map(|name| self.class(name).ok_or_else(|| unknown(name)));
        let parent = parent.transpose()?;
        if parent.as_ref().is_some_and(|parent| parent.ancestry().count() > MAX_PARENTS) {
            return Err(DeclareError::TooManyParents(class()));
        }
        for (name, property) in &spec.properties {
            let declared = parent.as_ref().and_then(|parent| Some((parent, parent.property(name)?)));
            if let Some((parent, known)) = declared
                && (known.usage, &known.contract) != (property.usage, &property.contract)
            {
                let parent = parent.name().to_owned();
                return Err(DeclareError::Redeclared { class: class(), property: name.clone(), parent });
            }
            let Some(default) = &property.default else { continue };
            if !default.objects().is_empty() {
                return Err(DeclareError::ObjectInDefault { class: class(), property: name.clone() });
            }
            let wrong = |error| DeclareError::Default { class: class(), error };
            property.check(name, default).map_err(wrong)?;
        }
        Ok(parent)
    }

    /// The class with a name.
    pub fn class(&self, name: &str) -> Option<Class> {
        let classes = self.inner.classes.borrow();
        classes.by_name.get(name).map(|number| classes.all[*number as usize].clone())
    }

    /// All classes, in the order in which they were declared.
    pub fn classes(&self) -> Vec<Class> {
        self.inner.classes.borrow().all.clone()
    }

    pub(crate) fn class_number(&self, number: u32) -> Option<Class> {
        self.inner.classes.borrow().all.get(number as usize).cloned()
    }
}

impl Class {
    /// The name of the class.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    pub(crate) fn shared_name(&self) -> Rc<str> {
        self.0.name.clone()
    }

    pub(crate) fn number(&self) -> u32 {
        self.0.number
    }

    /// The class that it extends.
    pub fn parent(&self) -> Option<&Class> {
        self.0.parent.as_ref()
    }

    /// The class itself, then its parent, and so on.
    pub fn ancestry(&self) -> impl Iterator<Item = &Class> {
        std::iter::successors(Some(self), |class| class.parent())
    }

    /// Whether it is the class with this name, or extends it.
    pub fn is_a(&self, name: &str) -> bool {
        self.ancestry().any(|class| class.name() == name)
    }

    /// The code of this class, without that of its parents.
    pub fn behavior(&self) -> &Rc<dyn Behavior> {
        &self.0.behavior
    }

    /// The nearest class in its ancestry that has a method.
    pub fn method(&self, name: &str) -> Option<&Class> {
        self.ancestry().find(|class| class.behavior().has(name))
    }

    /// Whether it or a parent has a destructor.
    pub fn has_destroy(&self) -> bool {
        self.0.has_destroy
    }

    /// A property that it or a parent declares, static ones included.
    pub fn property(&self, name: &str) -> Option<&Property> {
        let own = self.field_index(name).map(|place| &self.0.layout[place].1);
        own.or_else(|| self.ancestry().find_map(|class| class.0.statics.get(name)))
    }

    /// The properties of its objects, those of the parents first.
    pub fn properties(&self) -> impl Iterator<Item = (&str, &Property)> {
        self.0.layout.iter().map(|(name, property)| (&**name, property))
    }

    /// The index of a non-static property in an object's fields.
    pub(crate) fn field_index(&self, name: &str) -> Option<usize> {
        self.0.field_indexes.get(name).copied()
    }

    /// A static property, with the class in its ancestry that declares it.
    pub(crate) fn static_property(&self, name: &str) -> Option<(&Class, &Property)> {
        self.ancestry().find_map(|class| Some((class, class.0.statics.get(name)?)))
    }

    /// The default value of the property with a field index.
    pub(crate) fn default_at(&self, index: usize) -> Option<&Value> {
        self.0.layout.get(index)?.1.default.as_ref()
    }
}

impl Class {
    /// A class without anything: the answer after the world was closed.
    pub(super) fn placeholder() -> Class {
        Class(Rc::new(ClassData {
            number: 0,
            name: "?".into(),
            parent: None,
            layout: Vec::new(),
            field_indexes: HashMap::new(),
            statics: BTreeMap::new(),
            behavior: Rc::new(super::NoCode),
            has_destroy: false,
        }))
    }
}

impl PartialEq for Class {
    fn eq(&self, other: &Class) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
