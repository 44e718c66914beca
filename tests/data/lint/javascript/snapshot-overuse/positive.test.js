test('a', () => {
  expect(f(1)).toMatchSnapshot(); // expect: snapshot-overuse
  expect(f(2)).toMatchSnapshot();
  expect(f(3)).toMatchSnapshot();
  expect(f(4)).toMatchSnapshot();
  expect(f(5)).toMatchSnapshot();
  expect(f(6)).toMatchSnapshot();
});
function f(x) { return x * 2; }
