fn f() -> u32 {
    // TODO: another number
    4
}
