/**
 * Decisions of balancing: how full a bus is, when that is too much, which clients move where and
 * how many at a time, and which clients another bus may send. No input, no output and no clock of
 * its own, so that a simulation runs the same code.
 */
package io.eventbus.server.balance.decision;
