// A document or window that counts its listeners.
export class CountingTarget extends EventTarget {
  count = 0;

  constructor(visibilityState) {
    super();
    this.visibilityState = visibilityState;
  }

  addEventListener(...args) {
    this.count++;
    super.addEventListener(...args);
  }

  removeEventListener(...args) {
    this.count--;
    super.removeEventListener(...args);
  }

  tell(type, more = {}) {
    this.dispatchEvent(Object.assign(new Event(type), more));
  }
}
