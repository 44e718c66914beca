// Answers go where nothing that is tested can write: what is printed leads nowhere.
import { closeSync, openSync, writeSync } from 'node:fs';

function apart() {
  try {
    const own = openSync('/proc/self/fd/1', 'w');
    closeSync(1);
    openSync('/dev/null', 'w');
    return own;
  } catch {
    // Not on this system, or not for this user; then it is the output that all share.
    return 1;
  }
}

const answers = apart();

export const answer = (value) => writeSync(answers, `${JSON.stringify(value)}\n`);
