export function f(user) {
  console.log('password changed', user.name);
}
