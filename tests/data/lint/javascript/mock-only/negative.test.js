test('a', () => {
  const send = jest.fn();
  expect(f(send)).toBe(4);
  expect(send).toHaveBeenCalled();
});
function f(send) { send(); return 4; }
