package io.eventbus.journal;

import java.util.List;

/**
 * Slots that a consumer of a key-shared cursor has.
 *
 * @param serial number of the last progress of the consumer that is stored here; 0 for none
 * @param generation number of the last gift of slots to the consumer; 0 for none
 * @param full whether so many events are dead that no others are delivered
 * @param slots the slots, in their order
 * @param more whether more dead letters come again than are named
 */
public record SlotsView(
    long serial, long generation, boolean full, List<SlotView> slots, boolean more) {
  /** Maximum number of dead letters that come again and are named. */
  public static final int MAX_AGAIN = 1_024;

  /** Copies the list. */
  public SlotsView {
    slots = List.copyOf(slots);
  }

  /**
   * Slot of a consumer.
   *
   * @param slot number of the slot
   * @param gift number of the gift by which the consumer got it, if it has stored no progress since
   *     that knows of it; 0 otherwise
   * @param leaving whether another consumer is to get it: this one gives it up
   * @param state what is settled
   * @param again positions of dead letters that come again, before the slot goes on
   */
  public record SlotView(int slot, long gift, boolean leaving, SlotState state, List<Long> again) {
    /** Copies the list. */
    public SlotView {
      again = List.copyOf(again);
    }
  }
}
