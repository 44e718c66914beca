// The server is moved.
it.skip('a', () => { expect(f(2)).toBe(4); }); // expect: skipped-test
// it('b', () => {}); expect: skipped-test
function f(x) { return x * 2; }
