test('a', () => { expect(f(2)).toBe(4); }); // expect: no-negative-path
test('b', () => { expect(f(3)).toBe(6); });
test('c', () => { expect(f(0)).toBe(0); });
function f(x) { return x * 2; }
