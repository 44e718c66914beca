test('a', () => { same(f(2), 4); });
function same(a, b) { expect(a).toBe(b); }
function f(x) { return x * 2; }
