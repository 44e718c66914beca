export function load(name) {
  return { name };
}
