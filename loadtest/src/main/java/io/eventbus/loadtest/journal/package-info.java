/** Measurement of the store of durable topics by itself: no bus, no log, one thread that writes. */
package io.eventbus.loadtest.journal;
