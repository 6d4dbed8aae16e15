//! Named formats of texts, and what is wrong with a text that does not have one.

use cel::common::types::{CelList, CelOptional, CelString};
use cel::common::value::{CowVal, Val};
use cel::{DeclarationError, Env, ExecutionError};

use super::{own_value, text};
use crate::names;
use crate::schema::formats::Format;

/// A format.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Named(&'static str);

own_value!(Named, "kubernetes.NamedFormat");

const NAMES: [&str; 8] =
    ["dns1123Label", "dns1123Subdomain", "dns1035Label", "uri", "uuid", "byte", "date", "datetime"];

pub(super) fn extension(env: &mut Env) -> Result<(), DeclarationError> {
    env.add_overload("format.named", "format.named", vec![cel::common::types::STRING_TYPE], named)?;
    env.add_overload("format.dns1123Label", "format.dns1123Label", vec![], |_| told(NAMES[0]))?;
    env.add_overload("format.dns1123Subdomain", "format.dns1123Subdomain", vec![], |_| told(NAMES[1]))?;
    env.add_overload("format.dns1035Label", "format.dns1035Label", vec![], |_| told(NAMES[2]))?;
    env.add_overload("format.uri", "format.uri", vec![], |_| told(NAMES[3]))?;
    env.add_overload("format.uuid", "format.uuid", vec![], |_| told(NAMES[4]))?;
    env.add_overload("format.byte", "format.byte", vec![], |_| told(NAMES[5]))?;
    env.add_overload("format.date", "format.date", vec![], |_| told(NAMES[6]))?;
    env.add_overload("format.datetime", "format.datetime", vec![], |_| told(NAMES[7]))?;
    let (format, given) = (Named::cel_type().to_owned(), vec![cel::common::types::STRING_TYPE]);
    env.add_member_overload("validate", "format.validate(string)", format, given, validate)
}

fn told<'b, 'v>(name: &'static str) -> Result<CowVal<'b, 'v>, ExecutionError> {
    Ok(CowVal::owned(Named(name)))
}

fn named<'b, 'v>(given: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let wanted = text(given[0].as_ref())?;
    let known = NAMES.into_iter().find(|name| *name == wanted);
    let known = known.map(|name| Box::new(Named(name)) as Box<dyn Val>);
    Ok(CowVal::owned(CelOptional::from(known)))
}

/// What is wrong with a text; nothing, if it is as it should be.
fn validate<'b, 'v>(given: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let text = text(given[1].as_ref())?;
    let name = given[0].downcast_ref::<Named>().map_or("", |named| named.0);
    let wrong = match name {
        "dns1123Label" => names::dns_label(text).err().map(|why| why.to_string()),
        "dns1123Subdomain" => names::dns_subdomain(text).err().map(|why| why.to_string()),
        "dns1035Label" => names::dns1035_label(text).err().map(|why| why.to_string()),
        _ => {
            let check = Format::named(name).and_then(|format| format.check);
            let fits = check.is_none_or(|check| check(text));
            (!fits).then(|| format!("must be of type {name}: {text:?}"))
        }
    };
    let wrong = wrong.map(|why| {
        let why: Vec<Box<dyn Val>> = vec![Box::new(CelString::from(why))];
        Box::new(CelList::from(why)) as Box<dyn Val>
    });
    Ok(CowVal::owned(CelOptional::from(wrong)))
}
