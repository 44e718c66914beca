import pad from 'left-padder-pro'; // expect: unknown-package
import x from '@acme/none/deep'; // expect: unknown-package
export const a = pad(x);
