/**
 * Memory of clients' input and services with the wake-ups for freed room, estimates of heap, and
 * maps without boxes. The package knows no client and no frame.
 */
package io.eventbus.server.memory;
