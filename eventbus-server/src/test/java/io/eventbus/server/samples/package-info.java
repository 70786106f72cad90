/**
 * What the unit tests of the server share: frames made from a few words, and stand-ins for loops
 * and subscribers. Nothing here is under test.
 */
package io.eventbus.server.samples;
