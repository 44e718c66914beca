class NegativeTest { @Test void pays() {
  Bank bank = mock(Bank.class);
  assertEquals(4, pay(bank, new Ledger()));
} }
