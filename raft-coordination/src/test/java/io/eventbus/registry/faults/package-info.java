/**
 * Runs buses' registries as real processes, harms them by a plan that a seed makes, and records
 * what clients see. The judgement of it is in {@link io.eventbus.registry.history}.
 */
package io.eventbus.registry.faults;
