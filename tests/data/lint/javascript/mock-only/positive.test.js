test('a', () => {
  const send = jest.fn();
  f(send);
  expect(send).toHaveBeenCalled(); // expect: mock-only
});
function f(send) { send(); }
