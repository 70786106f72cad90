/**
 * Subscriptions of all accounts, and the routes that they make. A look-up takes a lock; loops
 * remember what it returns.
 */
package io.eventbus.server.subscription;
