export class BaseStore {
  read() {
    throw new Error('Not implemented');
  }
}
