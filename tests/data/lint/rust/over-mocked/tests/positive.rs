#[test]
fn pays() { // expect: over-mocked
    let bank = MockBank::new();
    let ledger = MockLedger::new();
    let mailer = MockMailer::new();
    let clock = MockClock::new();
    assert_eq!(pay(bank, ledger, mailer, clock), 4);
}
