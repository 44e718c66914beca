use std::sync::OnceLock;

static OTHER: OnceLock<usize> = OnceLock::new();

#[test]
fn begins_by_itself() {
    assert_eq!(*OTHER.get_or_init(|| add("y")), 3);
}

#[test]
fn begins_too() {
    assert_eq!(*OTHER.get_or_init(|| add("y")), 3);
}
