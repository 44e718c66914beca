export function f(text) {
  return [eval(text), new Function(text)]; // expect: dynamic-evaluation
}
