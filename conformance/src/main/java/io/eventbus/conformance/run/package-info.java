/** Player of scenarios: a stage for each, with a testee, ports that act as buses, and a log. */
package io.eventbus.conformance.run;
