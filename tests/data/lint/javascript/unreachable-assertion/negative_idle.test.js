import { format, price } from './app.js';
test('no case is rejected', () => {
  const wanted = (count) => {
    expect(count).toBe(2);
  };
  format(2, { wanted });
});
test('given', () => {
  [1, 2].forEach((count) => {
    expect(price(count)).toBe(count * 2);
  });
});
