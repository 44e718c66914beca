import { pay } from './app.js';
test('pays', () => {
  const bank = jest.fn();
  expect(pay(bank, [3])).toBe(4);
});
