/**
 * Permissions by roles: the roles file, its rules with a client's values in place of templates, and
 * the resulting permissions.
 */
package io.eventbus.server.security.roles;
