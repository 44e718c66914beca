test('a', () => {
  const result = f(2);
  expect(result).toBeTruthy(); // expect: truthy-only
});
function f(x) { return x * 2; }
