export const shared = 1;
export function total(items) {
  const tax = 3;
  const { a, b } = items;
  const inner = () => tax;
  return { inner, a };
}
