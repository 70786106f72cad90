/**
 * Who a client is and what it may do: the port {@link io.eventbus.server.security.Authenticator},
 * and the permissions that come with what it finds out.
 */
package io.eventbus.server.security;
