//! What expressions may call: the functions of the language, its strings, and those that Kubernetes adds.
//!
//! It must not know documents, nor schemas.

mod formats;
mod lists;
pub(super) mod making;
mod network;
mod quantity;
mod strings;
mod url;

use std::sync::{Arc, LazyLock};

use cel::common::types::CelString;
use cel::common::value::{CowVal, Val};
use cel::{Env, ExecutionError, Value as Cel};

/// What can be called.
pub(super) const FUNCTIONS: &str = "size contains startsWith endsWith matches int uint double string bytes bool dyn type duration \
    timestamp getFullYear getMonth getDayOfYear getDayOfMonth getDate getDayOfWeek getHours \
    getMinutes getSeconds getMilliseconds charAt indexOf lastIndexOf join lowerAscii upperAscii \
    replace split substring trim format reverse quote of none ofNonZeroValue hasValue value or \
    orValue isSorted sum min max equivalent intersects find findAll isIP ip isCanonical family \
    isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast isCIDR cidr \
    containsIP containsCIDR masked prefixLength isURL url getScheme getHost getHostname getPort \
    getEscapedPath isQuantity quantity sign isInteger asInteger asApproximateFloat add sub \
    isLessThan isGreaterThan compareTo named validate dns1123Label dns1123Subdomain dns1035Label uri \
    uuid byte date datetime";

/// What stands before the name of some functions.
pub(super) const NAMESPACES: [&str; 5] = ["optional", "sets", "strings", "format", "ip"];

/// Everything that can be called, with what it does.
pub(super) static ENVIRONMENT: LazyLock<Arc<Env>> = LazyLock::new(|| {
    let mut env = Env::stdlib();
    for extension in [
        cel::extensions::strings,
        making::extension,
        lists::extension,
        strings::extension,
        network::extension,
        url::extension,
        quantity::extension,
        formats::extension,
    ] {
        // What cannot be added cannot be called, and a test tells.
        let _ = env.add_extension(extension);
    }
    Arc::new(env)
});

/// A text as what a function makes of it.
pub(super) fn converted(function: &str, text: &str) -> Option<Cel> {
    let arguments = vec![CowVal::owned(CelString::from(text.to_owned()))];
    let function = ENVIRONMENT.find_overload(function, &arguments)?;
    Cel::try_from(function(arguments).ok()?.as_ref()).ok()
}

/// The text that an overload for texts was called with.
fn text<'b>(value: &'b (dyn Val + '_)) -> Result<&'b str, ExecutionError> {
    let text = value.downcast_ref::<CelString<'_>>();
    text.map(CelString::inner).ok_or_else(|| failed("string", "it is not a text"))
}

fn failed(function: &str, why: impl std::fmt::Display) -> ExecutionError {
    ExecutionError::function_error(function, why)
}

/// A value of ours that has nothing to do with others.
macro_rules! own_value {
    ($name:ident, $known:literal) => {
        impl cel::common::value::Val for $name {
            fn get_type(&self) -> &cel::common::types::Type {
                <Self as cel::common::value::Val>::cel_type()
            }

            fn cel_type() -> &'static cel::common::types::Type {
                static KNOWN: cel::common::types::Type =
                    cel::common::types::Type::new_unspecified_type($known);
                &KNOWN
            }

            fn equals(&self, other: &dyn cel::common::value::Val) -> bool {
                other.downcast_ref::<$name>().is_some_and(|other| other == self)
            }

            fn clone_as_boxed<'v>(&self) -> Box<dyn cel::common::value::Val + 'v> {
                Box::new(self.clone())
            }

            fn as_any(&self) -> Option<&dyn std::any::Any> {
                Some(self)
            }
        }

        impl cel::common::value::StaticVal for $name {}
    };
}
use own_value;
