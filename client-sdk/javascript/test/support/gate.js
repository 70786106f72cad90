/** Returns a promise, and the functions that settle it. */
export function gate() {
  const one = {};
  one.promise = new Promise((resolve, reject) => Object.assign(one, { resolve, reject }));
  return one;
}
