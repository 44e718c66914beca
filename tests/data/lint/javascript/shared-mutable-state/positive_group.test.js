import { add, find } from './app.js';
describe('store', () => {
  let id; // expect: shared-mutable-state
  it('adds', () => {
    id = add('x');
    expect(id).toBe(3);
  });
  it('finds', () => {
    expect(find(id)).toBe('x');
  });
});
