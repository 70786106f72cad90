/** Runs of durable topics under faults by a plan that a seed makes, judged at the end. */
package io.eventbus.loadtest.faults.run;
