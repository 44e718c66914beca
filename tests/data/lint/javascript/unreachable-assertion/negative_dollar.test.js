import { price, rejects } from './app.js';
test('no name of letters is rejected', () => {
  const $check = () => {
    expect(price(2)).toBe(4);
  };
  $check();
});
test('thrown', () => {
  const check = () => {
    expect(price(2)).toBe(4);
  };
  expect(check).not.toThrow();
});
