use std::sync::OnceLock;

static TOKEN: OnceLock<usize> = OnceLock::new();

#[test]
fn adds() {
    TOKEN.set(add("x")).unwrap();
    assert_eq!(add("x"), 3);
}

#[test]
fn finds() { // expect: order-dependence
    assert_eq!(TOKEN.get(), Some(&3));
}
