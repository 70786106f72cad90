/**
 * The hostile programs, one class for each idea, and the list of them. Each is written against
 * docs/protocol.md and knows nothing of the bus's code.
 */
package io.eventbus.loadtest.attack.hostile;
