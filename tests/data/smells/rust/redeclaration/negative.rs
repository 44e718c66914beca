#[cfg(unix)]
fn f() -> u32 { 1 }
#[cfg(windows)]
fn f() -> u32 { 2 }
fn g() -> u32 { let a = f(); let a = a + 1; a }
