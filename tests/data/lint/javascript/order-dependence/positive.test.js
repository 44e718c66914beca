import { add, find } from './app.js';
describe('store', () => {
  let id;
  it('adds', () => {
    id = add('x');
    expect(id).toBe(3);
  });
  it('finds', () => { // expect: order-dependence
    expect(find(id)).toBe('x');
  });
});
