/**
 * Signed tokens that name a client (JSON Web Tokens, RFC 7519), and the keys that they are checked
 * with; the only user of jose4j.
 */
package io.eventbus.server.security.jwt;
