//! Quantities as Kubernetes writes them: `500m`, `1Gi`, `2e3`. Kept in billionths, as there.

use cel::common::types::{CelBool, CelDouble, CelInt, CelString};
use cel::{DeclarationError, Env, ExecutionError};

use super::{failed, own_value};

const ONE: i128 = 1_000_000_000;

/// An amount of something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Quantity(i128);

own_value!(Quantity, "kubernetes.Quantity");

pub(super) fn extension(env: &mut Env) -> Result<(), DeclarationError> {
    cel::add_overload!(env, fn is_quantity: (CelString) -> CelBool)?;
    cel::add_overload!(env, fn quantity: (CelString) -> Result<Quantity>)?;
    cel::add_member_overload!(env, fn sign: (Quantity) -> CelInt)?;
    cel::add_member_overload!(env, fn is_integer: (Quantity) -> CelBool)?;
    cel::add_member_overload!(env, fn as_integer: (Quantity) -> Result<CelInt>)?;
    cel::add_member_overload!(env, fn as_approximate_float: (Quantity) -> CelDouble)?;
    cel::add_member_overload!(env, fn add: (Quantity, Quantity) -> Result<Quantity>)?;
    cel::add_member_overload!(env, fn add_int: (Quantity, CelInt) -> Result<Quantity>, name = "add")?;
    cel::add_member_overload!(env, fn sub: (Quantity, Quantity) -> Result<Quantity>)?;
    cel::add_member_overload!(env, fn sub_int: (Quantity, CelInt) -> Result<Quantity>, name = "sub")?;
    cel::add_member_overload!(env, fn is_less_than: (Quantity, Quantity) -> CelBool)?;
    cel::add_member_overload!(env, fn is_greater_than: (Quantity, Quantity) -> CelBool)?;
    cel::add_member_overload!(env, fn compare_to: (Quantity, Quantity) -> CelInt)?;
    Ok(())
}

/// Reads a quantity. What is finer than a billionth is rounded up.
fn parse(text: &str) -> Option<Quantity> {
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let end = rest.find(|sign: char| !sign.is_ascii_digit() && sign != '.').unwrap_or(rest.len());
    let (number, suffix) = rest.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') || number.len() > 30 {
        return None;
    }
    let digits: i128 = format!("0{whole}{fraction}").parse().ok()?;
    let (factor, tens) = scale(suffix)?;
    let tens = tens + 9 - i32::try_from(fraction.len()).ok()?;
    let scaled = digits.checked_mul(factor)?;
    let amount = match u32::try_from(tens) {
        Ok(tens) => scaled.checked_mul(10_i128.checked_pow(tens)?)?,
        Err(_) => match 10_i128.checked_pow(tens.unsigned_abs()) {
            Some(divisor) => scaled / divisor + i128::from(scaled % divisor != 0),
            None => i128::from(scaled != 0),
        },
    };
    Some(Quantity(if negative { -amount } else { amount }))
}

/// What a suffix means: a factor, and a power of ten.
fn scale(suffix: &str) -> Option<(i128, i32)> {
    let binary = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].iter().position(|known| *known == suffix);
    if let Some(at) = binary {
        return Some((1_i128 << (10 * (at + 1)), 0));
    }
    let tens = match suffix {
        "n" => -9,
        "u" => -6,
        "m" => -3,
        "" => 0,
        "k" => 3,
        "M" => 6,
        "G" => 9,
        "T" => 12,
        "P" => 15,
        "E" => 18,
        _ => suffix.strip_prefix(['e', 'E'])?.parse().ok().filter(|tens| (-30..=24).contains(tens))?,
    };
    Some((1, tens))
}

fn is_quantity(text: &CelString<'_>) -> CelBool {
    parse(text.inner()).is_some().into()
}

fn quantity(text: &CelString<'_>) -> Result<Quantity, ExecutionError> {
    parse(text.inner()).ok_or_else(|| failed("quantity", format!("{:?} is not a quantity", text.inner())))
}

fn sign(this: &Quantity) -> CelInt {
    i64::from(this.0.signum() as i8).into()
}

fn whole(this: &Quantity) -> Option<i64> {
    (this.0 % ONE == 0).then(|| i64::try_from(this.0 / ONE).ok()).flatten()
}

fn is_integer(this: &Quantity) -> CelBool {
    whole(this).is_some().into()
}

fn as_integer(this: &Quantity) -> Result<CelInt, ExecutionError> {
    whole(this).map(CelInt::from).ok_or_else(|| failed("asInteger", "it is not a whole number"))
}

fn as_approximate_float(this: &Quantity) -> CelDouble {
    (this.0 as f64 / ONE as f64).into()
}

fn sum(a: i128, b: i128) -> Result<Quantity, ExecutionError> {
    a.checked_add(b).map(Quantity).ok_or_else(|| failed("quantity", "it is too large"))
}

fn add(this: &Quantity, other: &Quantity) -> Result<Quantity, ExecutionError> {
    sum(this.0, other.0)
}

fn add_int(this: &Quantity, other: &CelInt) -> Result<Quantity, ExecutionError> {
    sum(this.0, i128::from(*other.inner()) * ONE)
}

fn sub(this: &Quantity, other: &Quantity) -> Result<Quantity, ExecutionError> {
    sum(this.0, -other.0)
}

fn sub_int(this: &Quantity, other: &CelInt) -> Result<Quantity, ExecutionError> {
    sum(this.0, -i128::from(*other.inner()) * ONE)
}

fn is_less_than(this: &Quantity, other: &Quantity) -> CelBool {
    (this < other).into()
}

fn is_greater_than(this: &Quantity, other: &Quantity) -> CelBool {
    (this > other).into()
}

fn compare_to(this: &Quantity, other: &Quantity) -> CelInt {
    (this.cmp(other) as i64).into()
}
