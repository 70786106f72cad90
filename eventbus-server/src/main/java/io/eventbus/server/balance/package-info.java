/**
 * Moves clients from a bus that has too much to do, or is about to end, to others: tells and hears
 * loads, asks for room, asks clients to go, and counts what comes of it. What is to be done is
 * decided in {@link io.eventbus.server.balance.decision}.
 */
package io.eventbus.server.balance;
