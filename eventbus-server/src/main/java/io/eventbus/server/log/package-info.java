/** A log that cannot be flooded. */
package io.eventbus.server.log;
