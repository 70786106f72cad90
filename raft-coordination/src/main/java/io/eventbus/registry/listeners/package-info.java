/**
 * Listeners of a registry's changes. A registry calls them on its own thread; listeners that throw
 * are counted and do not disturb the others.
 */
package io.eventbus.registry.listeners;
