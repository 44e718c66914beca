fn f() -> u32 {
    // ... rest of the code, expect: todo-code
    0
}
