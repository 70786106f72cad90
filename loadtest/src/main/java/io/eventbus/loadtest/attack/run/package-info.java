/**
 * Runs one attack: a bus of its own, the honest pairs, the process that attacks, and what is read
 * from the bus's process before and after.
 */
package io.eventbus.loadtest.attack.run;
