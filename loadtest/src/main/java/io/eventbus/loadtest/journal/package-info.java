/**
 * What the store of durable topics takes and costs, by itself: no bus, no log, one thread that
 * writes.
 */
package io.eventbus.loadtest.journal;
