/**
 * Moves clients from a bus that has too much to do, or is about to end, to its neighbours. Whom to
 * move where is decided by classes without input and output, which a simulation uses as they are.
 */
package io.eventbus.server.balance;
