cfg_wide! {
    mod imp {
        pub struct Wide;
    }
}
macro_rules! check {
    () => {};
}
pub(crate) use check;
pub(crate) use imp::Wide;
