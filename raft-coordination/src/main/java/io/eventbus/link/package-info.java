/**
 * Links between buses: connections over which buses call each other and send each other frames,
 * mutually authenticated and bounded. {@link io.eventbus.link.LinkNode} is one bus's end of all its
 * links; a user registers services with it and calls the services of others.
 */
package io.eventbus.link;
