/**
 * What clients may do by their roles: the roles file, its rules with a client's values in place of
 * templates, and the permissions that come of them.
 */
package io.eventbus.server.security.roles;
