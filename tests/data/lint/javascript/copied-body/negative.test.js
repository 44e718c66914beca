test('a', () => {
  const result = f(2) + f(3) + f(4);
  expect(result).toBe(18);
});
test('b', () => {
  const result = f(2) + f(3) + f(5);
  expect(result).toBe(20);
});
function f(x) { return x * 2; }
