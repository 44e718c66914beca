import { test } from 'vitest';
import none from './none.js';

test('never', () => none());
