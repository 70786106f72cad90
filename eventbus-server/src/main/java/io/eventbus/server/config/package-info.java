/**
 * Configuration of the bus as validated records, and the one table of keys that they are read from
 * ({@link io.eventbus.server.config.ConfigKey}). Nothing here opens a socket or knows the parts
 * that it configures.
 */
package io.eventbus.server.config;
