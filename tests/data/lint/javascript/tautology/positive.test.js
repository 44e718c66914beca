test('a', () => {
  expect(true).toBe(true); // expect: tautology
  expect(1).toBe(1); // expect: tautology
});
