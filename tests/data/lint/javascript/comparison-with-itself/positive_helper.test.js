import { names, price } from './app.js';
const same = (one, other) => one === other;
function wanted(count) {
  return price(count);
}
test('empty helper is rejected', () => {
  expect(same(price(2), price(2))).toBe(true); // expect: comparison-with-itself
});
test('helper', () => {
  const expected = wanted(3);
  expect(price(3)).toBe(expected); // expect: comparison-with-itself
});
test('either', () => {
  const got = price(2);
  expect(got || !got).toBeTruthy(); // expect: comparison-with-itself
});
test('length', () => {
  expect(names('a').length).toBeGreaterThanOrEqual(0); // expect: comparison-with-itself
});
test('spread', () => {
  const found = names('a');
  expect(found).toEqual([...found]); // expect: comparison-with-itself
});
test('bare', () => {
  expect(price(2) === 9); // expect: comparison-with-itself
});
