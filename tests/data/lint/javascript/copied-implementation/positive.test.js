import { discount } from './price.js';

const expected = (amount, rate) => { // expect: copied-implementation
  if (rate > 100) throw new RangeError('more than all');
  return (amount * (100 - rate)) / 100;
};

test('takes percent off', () => {
  expect(discount(200, 10)).toBe(expected(200, 10));
  expect(() => discount(200, 101)).toThrow(RangeError);
});
