/**
 * Authentication and permissions: the port {@link io.eventbus.server.security.Authenticator}, and
 * the permissions that come with its result.
 */
package io.eventbus.server.security;
