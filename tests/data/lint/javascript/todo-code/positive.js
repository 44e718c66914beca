export function total() {
  // Add your code here, expect: todo-code
  return 0;
}
