/** Scenarios: what they say, how they are read, and how values are compared. */
package io.eventbus.conformance.scenario;
