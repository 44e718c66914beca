import { price } from './app.js';
test('no call is rejected', () => {
  const $check = () => {
    expect(price(2)).toBe(9); // expect: unreachable-assertion
  };
  expect($check).toBeInstanceOf(Function);
  price('$check');
});
