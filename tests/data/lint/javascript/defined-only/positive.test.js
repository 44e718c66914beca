test('a', () => {
  expect(f(2)).toBeDefined(); // expect: defined-only
});
function f(x) { return x * 2; }
