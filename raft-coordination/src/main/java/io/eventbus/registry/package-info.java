/**
 * The registry as its users see it: which buses there are, and how topics are configured. {@link
 * io.eventbus.registry.Registry} is the port that a consensus engine implements; everything else
 * here is an immutable value.
 */
package io.eventbus.registry;
