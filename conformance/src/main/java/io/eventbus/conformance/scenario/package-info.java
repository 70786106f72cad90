/** Scenarios, their files, and the comparison of values. */
package io.eventbus.conformance.scenario;
