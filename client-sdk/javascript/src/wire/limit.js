// Fixed limits of the protocol. Import them as LIMIT: minifiers put the numbers in their places.
export const keyBytes = 4096;
export const publishEvents = 65_536;
export const nameBytes = 255;
export const producerBytes = 63;
export const serviceBytes = 240;
export const metadata = 64;
export const metadataBytes = 4096;
export const failureMessageBytes = 1024;
export const failureDetailsBytes = 65_536;
// Maximum bytes of a call's frame around its event.
export const aroundCall = 1024;
export const tokenBytes = 16_384;
export const attributes = 64;
export const attributeBytes = 1024;
// Maximum bytes of a delivery around the events that a publisher sent.
export const aroundEvents = 128 * 1024;
// Maximum bytes of a message before the bus has told its own limit.
export const firstMessageBytes = 64 * 1024 * 1024;
