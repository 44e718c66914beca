class PositiveTest { @Test void pays() { // expect: over-mocked
  Bank bank = mock(Bank.class);
  Ledger ledger = mock(Ledger.class);
  Mailer mailer = mock(Mailer.class);
  when(bank.total()).thenReturn(4);
  assertEquals(4, pay(bank, ledger, mailer));
} }
