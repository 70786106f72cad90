/**
 * Moves of clients from a bus that is overloaded, or is about to end, to others: exchanges loads,
 * asks for room, asks clients to move, and counts the outcomes. Decisions are in {@link
 * io.eventbus.server.balance.decision}.
 */
package io.eventbus.server.balance;
