fn f() -> u32 {
    todo!() // expect: not-implemented
}
fn g() -> u32 {
    unimplemented!("later") // expect: not-implemented
}
#[cfg(test)]
mod tests {
    fn stub() { unimplemented!() }
}
