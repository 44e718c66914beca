import { price } from './app.js';
const cases = [[1, 9]];
test('no case is rejected', () => {
  for (const [count, wanted] of cases.slice(1)) expect(price(count)).toBe(wanted); // expect: unreachable-assertion
});
test('empty', () => {
  [].forEach((count) => {
    expect(price(count)).toBe(9); // expect: unreachable-assertion
  });
});
test('guarded', () => {
  if (price(2) !== 9) return;
  expect(price(2)).toBe(9); // expect: unreachable-assertion
});
test('never called', () => {
  const check = () => {
    expect(price(2)).toBe(9); // expect: unreachable-assertion
  };
  price(2);
});
