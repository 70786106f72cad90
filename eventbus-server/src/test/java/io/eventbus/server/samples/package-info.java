/**
 * Shared parts of the server's unit tests: frames made from a few words, and stand-ins for loops
 * and subscribers. Nothing here is under test.
 */
package io.eventbus.server.samples;
