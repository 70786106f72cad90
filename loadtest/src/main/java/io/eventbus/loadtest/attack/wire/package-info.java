/**
 * Connections to a bus below the level of any client library: every octet that is sent is chosen by
 * the caller, and reading can be slow or left out.
 */
package io.eventbus.loadtest.attack.wire;
