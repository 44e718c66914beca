//! Similarity of failures, as a sign that they have one cause.
//!
//! Source: specification.md 7.7 (F-098).

use std::collections::BTreeSet;

use super::failure::Signature;

/// Maximum number of failures that are compared.
pub const COMPARED: usize = 200;

/// Pairs with at least this similarity belong to one cluster.
pub const SAME_CLUSTER: f64 = 0.7;

/// Likeness of two failures, 0 to 1: message 0.4, frame 0.3 (file 0.15), class 0.2, layer 0.1.
pub fn pair(a: &Signature, b: &Signature) -> f64 {
    let frame = match (&a.frame, &b.frame) {
        (Some(a), Some(b)) if a == b => 1.0,
        (Some((a, _)), Some((b, _))) if a == b => 0.5,
        (None | Some(_), None | Some(_)) => 0.0,
    };
    let class = if a.class == b.class { 1.0 } else { 0.0 };
    let layer = if a.layer == b.layer { 1.0 } else { 0.0 };
    0.4 * jaccard(&a.message, &b.message) + 0.3 * frame + 0.2 * class + 0.1 * layer
}

fn jaccard(a: &str, b: &str) -> f64 {
    let words = |text: &str| -> BTreeSet<String> {
        text.split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect()
    };
    let (a, b) = (words(a), words(b));
    let union = a.union(&b).count();
    if union == 0 { 1.0 } else { share(a.intersection(&b).count(), union) }
}

fn share(part: usize, whole: usize) -> f64 {
    // Counts here are at most a few thousand, far below where f64 loses integers.
    let float = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    float(part) / float(whole)
}

/// Groups failures by single linkage; each group holds indexes, and the largest group is first.
pub fn clusters(failures: &[Signature]) -> Vec<Vec<usize>> {
    let count = failures.len().min(COMPARED);
    let mut group: Vec<usize> = (0..count).collect();
    for (i, first) in failures.iter().take(count).enumerate() {
        for (j, second) in failures.iter().take(count).enumerate().skip(i + 1) {
            if pair(first, second) >= SAME_CLUSTER {
                let (Some(&from), Some(&to)) = (group.get(j), group.get(i)) else { continue };
                for member in &mut group {
                    if *member == from {
                        *member = to;
                    }
                }
            }
        }
    }
    let names: BTreeSet<usize> = group.iter().copied().collect();
    let mut clusters: Vec<Vec<usize>> = names
        .into_iter()
        .map(|name| (0..count).filter(|&index| group.get(index) == Some(&name)).collect())
        .collect();
    clusters.sort_by_key(|cluster: &Vec<usize>| std::cmp::Reverse(cluster.len()));
    clusters
}

/// Share of the largest cluster times its mean similarity; 0 for fewer than two failures.
pub fn of(failures: &[Signature]) -> f64 {
    let count = failures.len().min(COMPARED);
    let Some(largest) = clusters(failures).into_iter().next() else { return 0.0 };
    if count < 2 || largest.len() < 2 {
        return 0.0;
    }
    let members: Vec<&Signature> =
        largest.iter().filter_map(|&index| failures.get(index)).collect();
    let mut sum = 0.0;
    let mut pairs = 0;
    for (i, first) in members.iter().enumerate() {
        for second in members.iter().skip(i + 1) {
            sum += pair(first, second);
            pairs += 1;
        }
    }
    share(largest.len(), count) * sum / f64::from(pairs.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::RepoPath;
    use crate::domain::test::Layer;
    use proptest::prelude::*;

    fn failure(class: &str, message: &str, frame: Option<(&str, &str)>) -> Signature {
        Signature {
            class: class.into(),
            message: message.into(),
            frame: frame.map(|(file, function)| (RepoPath::parse(file).unwrap(), function.into())),
            layer: Layer::Unit,
        }
    }

    #[test]
    fn each_part_of_the_likeness_has_its_weight() {
        let base = failure("E", "one two", Some(("a.py", "f")));
        let table = [
            ("itself", base.clone(), 1.0),
            ("other class", failure("F", "one two", Some(("a.py", "f"))), 0.8),
            ("same file only", failure("E", "one two", Some(("a.py", "g"))), 0.85),
            ("other file", failure("E", "one two", Some(("b.py", "f"))), 0.7),
            ("half the words", failure("E", "one", Some(("a.py", "f"))), 0.8),
            ("nothing but the layer", failure("F", "three", None), 0.1),
        ];
        for (why, other, expected) in table {
            assert!(
                (pair(&base, &other) - expected).abs() < 1e-9,
                "{why}: {}",
                pair(&base, &other)
            );
        }
    }

    #[test]
    fn the_largest_cluster_decides() {
        let alike = failure("E", "one two", Some(("a.py", "f")));
        let other = failure("F", "three", None);
        assert!(of(std::slice::from_ref(&alike)).abs() < f64::EPSILON, "one failure is not alike");
        assert!((of(&[alike.clone(), alike.clone()]) - 1.0).abs() < 1e-9);
        let mixed = of(&[alike.clone(), other, alike]);
        assert!((mixed - 2.0 / 3.0).abs() < 1e-9, "{mixed}");
    }

    proptest! {
        #[test]
        fn likeness_is_symmetric_and_between_0_and_1(
            a in "[a-c ]{0,8}", b in "[a-c ]{0,8}", same: bool,
        ) {
            let first = failure("E", &a, Some(("a.py", "f")));
            let second = failure(if same { "E" } else { "F" }, &b, None);
            prop_assert!((pair(&first, &second) - pair(&second, &first)).abs() < 1e-12);
            prop_assert!((0.0..=1.0).contains(&pair(&first, &second)));
            prop_assert!((0.0..=1.0).contains(&of(&[first, second])));
        }
    }
}
