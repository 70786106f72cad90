package io.eventbus.server.federation;

import java.util.List;

/**
 * Is told for how long subscribers that are full have kept a lane of another bus from being read.
 * Called on the lane's loop, several times a second while it lasts; must not block.
 */
@FunctionalInterface
interface HoldListener {
  /** Charges nobody. */
  HoldListener NONE = (topic, plain, groups, nanos) -> {};

  /**
   * A frame has waited.
   *
   * @param topic its topic
   * @param plain whether it is for subscribers without a group
   * @param groups the groups of which one member is to get it
   * @param nanos for how long, since the last call for the same frame or since it came
   */
  void held(String topic, boolean plain, List<String> groups, long nanos);
}
