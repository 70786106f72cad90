/**
 * The experiments: one client moved, a hot topic and many clients drained, buses restarted and
 * killed, while numbered events flow. Each says how long clients waited and what became of events.
 */
package io.eventbus.loadtest.switching.run;
