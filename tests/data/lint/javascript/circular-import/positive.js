import { b } from './second'; // expect: circular-import
export const a = () => b;
