test('a', () => {
  expect(f(1)).toMatchSnapshot();
  expect(f(2)).toMatchSnapshot();
});
function f(x) { return x * 2; }
