import React from 'react';
export function total({ items, other: renamed = 1 }, ...rest) {
  const [first, , ...more] = items;
  label: for (const x of more) { if (x) continue label; }
  try { JSON.parse('1'); } catch (error) { console.error(error, React); }
  if (typeof maybe !== 'undefined') { console.log(maybe); }
  class Inner {}
  return [first, renamed, rest, new Inner(), document, arguments, process.env.HOME, { items }];
}
