package io.eventbus.journal;

/**
 * Settlement of an event of a key-shared cursor that is or was a dead letter.
 *
 * @param serial number of the first progress of the consumer that has it: a later one has it again
 *     if it is not known whether that was stored
 * @param slot the slot of the event
 * @param position position of the event
 * @param again whether it was a dead letter that came again
 * @param attempts how often it was delivered, if it is dead; 0 if it is done
 * @param reason why it is dead: at most {@link Settlement#MAX_REASON_BYTES}; empty for none
 */
public record SlotEnd(
    long serial, int slot, long position, boolean again, int attempts, String reason) {
  /** Maximum number of ends that are given together. */
  public static final int MAX_TOGETHER = 1_024;
}
