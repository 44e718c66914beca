import { names, pair, price } from './app.js';
test('empty pair is rejected', () => {
  let a = 0;
  let b = 0;
  [a, b] = pair();
  expect(a).toBe(0);
});
test('loop', () => {
  let n = 0;
  for (n of names(2)) price(n);
  expect(n).toBe(0);
});
test('longer', () => {
  expect(names('a').length - names('b').length).toBeGreaterThanOrEqual(0);
  expect(names('a').length - names('b').length >= 0).toBe(true);
});
test('object', () => {
  expect(price(2) instanceof Object).toBe(true);
});
test('round trip', () => {
  const found = names('a');
  expect(JSON.parse(JSON.stringify(found))).toEqual(found);
});
