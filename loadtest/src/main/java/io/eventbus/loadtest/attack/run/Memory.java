package io.eventbus.loadtest.attack.run;

/**
 * The memory of the bus's process in bytes; what is not known is negative.
 *
 * @param heapBefore used heap after a collection, before the attack
 * @param heapAfter the same after the recovery
 * @param countedBefore what the bus says that waits, before the attack
 * @param countedAfter the same after the recovery
 */
public record Memory(
    long heapBefore, long heapAfter, long countedBefore, long countedAfter, long rssPeak) {}
