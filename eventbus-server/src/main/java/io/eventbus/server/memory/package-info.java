/**
 * Memory of clients' input and services, and who waits for it, with estimates of heap and maps
 * without boxes. It knows no client and no frame.
 */
package io.eventbus.server.memory;
