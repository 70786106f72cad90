/**
 * Hostile programs against a real bus: what an attack is, what it gets, and what it counts. The
 * attacks run in a process of their own, beside well-behaved clients that are measured.
 */
package io.eventbus.loadtest.attack;
