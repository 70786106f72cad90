/**
 * What every registry needs to tell its listeners of changes. A registry calls it on its own
 * thread; listeners that throw are counted and do not disturb the others.
 */
package io.eventbus.registry.listeners;
