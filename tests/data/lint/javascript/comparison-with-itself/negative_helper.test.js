import { clear, names, on, price } from './app.js';
test('empty helper is rejected', () => {
  let called = false;
  on(() => { called = true; });
  expect(called).toBe(true);
});
test('untouched', () => {
  const before = names('a');
  const other = names('a');
  clear(before);
  expect(before).toEqual(other);
});
test('truth', () => {
  expect(price(2) === 4).toBe(true);
  expect(names('a').length).toBeGreaterThanOrEqual(1);
});
