// Needs a printer.
test.skip('a', () => { // expect: skipped-test
  print(2);
});
