export function total() {
  throw new Error('Not implemented'); // expect: not-implemented
}
