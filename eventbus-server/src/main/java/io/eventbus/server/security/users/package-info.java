/**
 * Clients that a file knows by name, with a password or with the certificate of their connection;
 * the only user of password4j.
 */
package io.eventbus.server.security.users;
