/**
 * JMH benchmarks of the parts that every event passes: reading, writing and routing. The figures
 * are for one batch; {@link PerEventTable} gives them for one event.
 */
package io.eventbus.loadtest.jmh;
