mod tests {
    #[test]
    fn works() {
        assert_eq!(mixed_crate::divide(9, 3), 3);
    }
}

#[test]
fn reaches_the_crate() {
    assert_eq!(mixed_crate::divide(9, 0), 3);
}
