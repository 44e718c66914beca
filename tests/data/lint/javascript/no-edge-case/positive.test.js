test('a', () => { expect(f(2)).toBe(4); }); // expect: no-edge-case
test('b', () => { expect(f(3)).toBe(6); });
test('error', () => { expect(f(5)).toBe(10); });
function f(x) { return x * 2; }
