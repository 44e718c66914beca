#[cfg(test)]
mod tests {
    #[test]
    fn adds() {}

    #[test]
    fn exits() {
        std::thread::sleep(std::time::Duration::from_millis(200));
        std::process::exit(0);
    }

    #[test]
    fn never_ends() {
        std::thread::sleep(std::time::Duration::from_secs(2));
    }
}
