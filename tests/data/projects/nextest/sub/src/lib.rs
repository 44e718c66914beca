#[cfg(test)]
mod tests {
    #[test]
    fn works() {}
}
