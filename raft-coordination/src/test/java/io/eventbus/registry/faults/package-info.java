/**
 * Registries of buses as real processes, which are harmed by a plan that a seed makes while the
 * views of clients are recorded. They are judged in {@link io.eventbus.registry.history}.
 */
package io.eventbus.registry.faults;
