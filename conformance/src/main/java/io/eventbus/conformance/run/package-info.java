/** Plays scenarios: one stage for each, with a testee, ports that look like buses, and a log. */
package io.eventbus.conformance.run;
