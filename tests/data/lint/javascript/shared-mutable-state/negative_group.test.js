import { add, find } from './app.js';
describe('store', () => {
  let id;
  let other;
  beforeEach(() => {
    id = add('x');
  });
  it('adds', () => {
    expect(id).toBe(3);
    other = add('y');
    expect(other).toBe(4);
  });
  it('finds', () => {
    expect(find(id)).toBe('x');
    other = add('z');
    expect(find(other)).toBe('x');
  });
});
