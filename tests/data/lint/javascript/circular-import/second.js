import { a } from './positive';
export const b = () => a;
