test('a', () => {
  const result = f(2) + f(3) + f(4);
  expect(result).toBe(18);
});
test('b', () => { // expect: copied-body
  const result = f(2) + f(3) + f(4);
  expect(result).toBe(18);
});
function f(x) { return x * 2; }
