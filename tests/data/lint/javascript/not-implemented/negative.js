export function total(a) {
  if (!a) throw new Error('no items');
  return a;
}
