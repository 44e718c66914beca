import { discount } from './price.js';

const cases = (first, last) => {
  if (first > last) throw new RangeError('nothing between them');
  return Array.from({ length: last - first }, (_, index) => first + index);
};

const pause = (milliseconds, value) =>
  new Promise((resolve) => setTimeout(resolve, milliseconds * 2, value));

test('takes percent off', async () => {
  await pause(1, 'x');
  for (const percent of cases(1, 3)) expect(discount(100, percent)).toBe(100 - percent);
  expect(() => discount(200, 101)).toThrow(RangeError);
});
