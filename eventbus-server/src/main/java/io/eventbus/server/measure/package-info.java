/** Measurements of a running bus: its loops, its load, its topics, its registry. */
package io.eventbus.server.measure;
