/** The experiments: who writes what when, who is killed, and what came of it. */
package io.eventbus.loadtest.coordination.run;
