export function add(name) {
  return name.length + 2;
}
export function find(id) {
  return id ? 'x' : '';
}
