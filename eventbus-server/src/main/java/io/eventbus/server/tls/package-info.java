/**
 * Certificates, keys and authorities in PEM files: read whole, checked, and read again while the
 * bus runs.
 */
package io.eventbus.server.tls;
