import x from 'lodash/filter';
import y from 'unlisted/deep';
export const a = x + y;
