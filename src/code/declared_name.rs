//! Finds the declaration that a name refers to, in any of the spellings that people and models use:
//! `Cart.total`, `Cart::total`, `(*Cart).total`, `total`, `total()`, `def total(self)`.

use super::outline::{Declaration, DeclarationKind};

/// The declarations that a name may mean, in order; the whole name is better than a part.
pub fn find<'d>(known: &'d [Declaration], name: &str) -> Vec<&'d Declaration> {
    let wanted = segments(name);
    let ranked: Vec<(u8, &Declaration)> =
        known.iter().filter_map(|one| Some((rank(one, &wanted, known)?, one))).collect();
    let best = ranked.iter().map(|(rank, _)| *rank).min();
    ranked.into_iter().filter(|(rank, _)| Some(*rank) == best).map(|(_, one)| one).collect()
}

/// How well a declaration fits a name, 0 being best; `None` if it does not.
fn rank(one: &Declaration, wanted: &[String], known: &[Declaration]) -> Option<u8> {
    let own = segments(&one.name);
    if own.is_empty() || wanted.is_empty() {
        return None;
    }
    if own == wanted {
        return Some(0);
    }
    if own.ends_with(wanted) {
        return Some(1);
    }
    let outer = wanted.strip_suffix(own.as_slice())?;
    // Where the class before a name is known, a function outside of it is another one.
    let is_class = |one: &Declaration| {
        one.kind == DeclarationKind::Type && segments(&one.name).last() == outer.last()
    };
    (!known.iter().any(is_class)).then_some(2)
}

/// One spelling of a name for all of them; empty if it names nothing.
pub fn normalise(name: &str) -> String {
    segments(name).join(".")
}

/// The parts of a name, outer ones first, without arguments, types and keywords.
fn segments(name: &str) -> Vec<String> {
    let name = without_generics(name.trim().trim_matches('`'));
    let name = name.trim().trim_start_matches("func ");
    // The receiver of a method in Go.
    let (receiver, rest) = match name.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        Some((receiver, rest)) => {
            (receiver.rsplit([' ', '*', '(']).next().unwrap_or_default(), rest)
        }
        None => ("", name),
    };
    let rest = rest.split('(').next().unwrap_or_default();
    let rest = rest.split_whitespace().next_back().unwrap_or_default();
    format!("{receiver}.{rest}")
        .replace("::", ".")
        .split(['.', '#'])
        .map(|part| part.trim_matches(['&', '*']).to_owned())
        .filter(|part| !part.is_empty())
        .collect()
}

/// A name without what stands in angle brackets.
fn without_generics(name: &str) -> String {
    let mut depth = 0usize;
    let outside = |c: &char| {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ => return depth == 0,
        }
        false
    };
    name.chars().filter(outside).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::language::Language;
    use crate::code::outline::declarations;

    #[test]
    fn every_spelling_of_a_name_is_one() {
        let table = [
            ("Cart.total", "Cart.total"),
            ("Cart::total", "Cart.total"),
            ("Cart#total", "Cart.total"),
            ("Cart.total()", "Cart.total"),
            ("Cart::<T>::total", "Cart.total"),
            ("Cart<K, V>.total(a, b)", "Cart.total"),
            ("(*Cart).Total", "Cart.Total"),
            ("func (c *Cart) Total() int", "Cart.Total"),
            (" total ", "total"),
            ("`total()`", "total"),
            ("def total(self, x)", "total"),
            ("pub async fn total", "total"),
            ("int total(int a)", "total"),
            ("class Cart", "Cart"),
            ("#hidden", "hidden"),
            ("<module>", ""),
            ("()", ""),
            ("(()", ""),
            ("(a(b)", "b"),
            ("", ""),
        ];
        for (name, expected) in table {
            assert_eq!(normalise(name), expected, "{name}");
        }
    }

    #[test]
    fn a_name_is_found_with_and_without_what_is_around_it() {
        let python = "def total():\n    pass\n\nclass Cart:\n    def total(self):\n        pass\n    def add(self):\n        pass\n\nclass Order:\n    def add(self):\n        pass\n";
        let rust = "struct Cart<T>(T);\nimpl<T> Cart<T> {\n    fn total() {}\n}\nmod tests {\n    fn total_works() {}\n}\n";
        let go = "package a\n\nfunc (c *Cart) Total() {}\n\nfunc (o Order) Total() {}\n\nfunc Sum() {}\n";
        let table = [
            (Language::Python, python, "Cart.total", vec!["Cart.total"]),
            (Language::Python, python, "total", vec!["total"]),
            (Language::Python, python, "shop.total", vec!["total"]),
            (Language::Python, python, "Order.total", vec![]),
            (Language::Python, python, "add", vec!["Cart.add", "Order.add"]),
            (Language::Python, python, "cart.Cart.add()", vec!["Cart.add"]),
            (Language::Python, python, "Cart", vec!["Cart"]),
            (Language::Python, python, "gone", vec![]),
            (Language::Python, python, "", vec![]),
            (Language::Rust, rust, "Cart::total", vec!["Cart<T>.total"]),
            (Language::Rust, rust, "crate::cart::Cart::total", vec!["Cart<T>.total"]),
            (Language::Rust, rust, "Cart", vec!["Cart", "Cart<T>"]),
            (Language::Rust, rust, "total_works", vec!["tests.total_works"]),
            (Language::Go, go, "(*Cart).Total", vec!["Cart.Total"]),
            (Language::Go, go, "Order.Total", vec!["Order.Total"]),
            (Language::Go, go, "Total", vec!["Cart.Total", "Order.Total"]),
            (Language::Go, go, "a.Sum", vec!["Sum"]),
        ];
        for (language, text, name, expected) in table {
            let known = declarations(language, text);
            let found: Vec<&str> = find(&known, name).iter().map(|one| one.name.as_str()).collect();
            assert_eq!(found, expected, "{language:?} {name}");
        }
    }

    proptest::proptest! {
        #[test]
        fn one_spelling_stays_the_same(name in "[a-cA-C:.#<>()]{0,12}") {
            let once = normalise(&name);
            proptest::prop_assert_eq!(normalise(&once), once);
        }
    }
}
