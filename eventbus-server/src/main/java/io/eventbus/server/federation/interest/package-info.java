/**
 * What each bus tells the others of its clients' subscriptions, and when all of them know it. It
 * goes by the lanes 0.
 */
package io.eventbus.server.federation.interest;
