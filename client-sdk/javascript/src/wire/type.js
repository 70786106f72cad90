// Type codes of frames. Import them as TYPE: minifiers put the numbers in their places.
export const HELLO = 0;
export const PUBLISH = 1;
export const SUBSCRIBE = 2;
export const CHANGE_BUS = 3;
export const DELIVER = 4;
export const UNSUBSCRIBE = 6;
export const WELCOME = 7;
export const PROBLEM = 8;
export const CONFIRM = 9;
export const GAP = 10;
export const BARRIER = 11;
export const DRAINED = 12;
export const CHANGE_BUS_FAILED = 13;
export const CREDIT = 28;
export const AUTHENTICATE = 32;
export const ECHO = 33;
