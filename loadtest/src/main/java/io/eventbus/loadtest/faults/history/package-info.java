/**
 * Judge of durable topics: what clients did and saw, and the rules that all of it has to keep. It
 * knows nothing of the bus.
 */
package io.eventbus.loadtest.faults.history;
