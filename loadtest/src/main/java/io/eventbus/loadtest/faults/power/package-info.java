/** Losses of power of systems that store events: how many confirmed events are gone. */
package io.eventbus.loadtest.faults.power;
