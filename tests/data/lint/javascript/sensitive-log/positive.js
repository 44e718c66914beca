export function f(user) {
  const { password } = user;
  console.log('in', password); // expect: sensitive-log
}
