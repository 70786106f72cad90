/**
 * Interest of clients that each bus announces to its peers, and when all of them know it. Uses the
 * lanes 0.
 */
package io.eventbus.server.federation.interest;
