//! How well a value fits a place by its type. An edit that puts a value of another type in a place would not
//! compile.

use super::edit_site::{EditSite, is_condition};
use super::node_kind::NodeKind;
use super::value_types::DeclaredType;

/// How likely an edit is right that seems to put a value of another type in a place.
const OTHER_TYPE: f64 = 0.05;

/// The type that a place wants.
fn wanted(site: &EditSite<'_>) -> Option<DeclaredType> {
    let types = &site.scope.types;
    let own = match site.kind {
        NodeKind::Name => types.names.get(site.text).cloned(),
        NodeKind::Compare | NodeKind::Logic | NodeKind::Not => Some(DeclaredType::Truth),
        NodeKind::Return => types.result.clone(),
        NodeKind::Arithmetic if !site.text.contains('"') => Some(DeclaredType::Number),
        _ => DeclaredType::of_literal(site.text),
    };
    own.or_else(|| is_condition(site).then_some(DeclaredType::Truth))
        .or_else(|| types.result.clone().filter(|_| site.parent == NodeKind::Return))
}

/// Whether a value may be of a type, as far as its own is known.
pub fn may_be_of(site: &EditSite<'_>, other: &DeclaredType) -> bool {
    let known = if site.spelling.is_typed { wanted(site) } else { None };
    known.is_none_or(|one| one.may_be(other))
}

/// How well a name or a literal fits a place by its type: 1 where that is not known, 0 where it never does.
pub fn type_fit(site: &EditSite<'_>, text: &str) -> f64 {
    if !site.spelling.is_typed {
        return 1.0;
    }
    let found =
        || site.scope.types.names.get(text).cloned().or_else(|| DeclaredType::of_literal(text));
    match wanted(site).zip(found()) {
        Some((wanted, found)) if wanted.excludes(&found) => 0.0,
        Some((wanted, found)) if !wanted.may_be(&found) => OTHER_TYPE,
        _ => 1.0,
    }
}
