#[automock] // expect: mock-in-production
pub trait Send { fn send(&self); }
