import { First } from './negative_types';
export interface Second {
  first: First;
}
