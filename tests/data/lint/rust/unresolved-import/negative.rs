mod tax;
#[cfg(windows)]
mod windows;
pub fn f() -> u32 { tax::f() }
