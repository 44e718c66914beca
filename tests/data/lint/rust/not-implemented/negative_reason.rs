pub fn register() {
    unimplemented!("use `register_borrowed`, which keeps the handle alive")
}
