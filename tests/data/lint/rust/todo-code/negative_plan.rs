pub fn name(raw: &str) -> &str {
    //TODO: implement value normalization and use it when comparing
    let end = raw.len();
    raw.get(..end).unwrap_or(raw)
}
