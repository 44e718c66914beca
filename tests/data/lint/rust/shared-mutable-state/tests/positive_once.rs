use std::sync::OnceLock;

static TOKEN: OnceLock<usize> = OnceLock::new(); // expect: shared-mutable-state

#[test]
fn adds() {
    TOKEN.set(add("x")).unwrap();
    assert_eq!(add("x"), 3);
}

#[test]
fn finds() {
    assert_eq!(TOKEN.get(), Some(&3));
}
