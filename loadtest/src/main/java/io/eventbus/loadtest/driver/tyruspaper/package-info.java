/**
 * The event bus of Gopalasetty and Jegarkal, built as their paper describes it: one Avro message
 * for each WebSocket message, a map from topics to sessions, and Tyrus at both ends.
 */
package io.eventbus.loadtest.driver.tyruspaper;
