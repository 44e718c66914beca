import { Second } from './negative_types_second';
export interface First {
  second: Second;
}
