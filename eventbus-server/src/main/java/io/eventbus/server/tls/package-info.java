/**
 * Certificates, keys and authorities in PEM files: read whole, checked, and looked at again while
 * the bus runs.
 */
package io.eventbus.server.tls;
