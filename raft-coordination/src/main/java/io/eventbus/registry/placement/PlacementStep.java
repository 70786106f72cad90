package io.eventbus.registry.placement;

import io.eventbus.registry.ShardCommand;
import org.jspecify.annotations.Nullable;

/**
 * Next step towards what an operator asks for.
 *
 * @param done whether nothing is left to do
 * @param place the change to be submitted; null if there is none, or if it has to wait
 * @param refusal why it is refused; null if it is not
 * @param waitsFor what has to happen before; empty for nothing
 */
public record PlacementStep(
    boolean done, ShardCommand.@Nullable Place place, @Nullable String refusal, String waitsFor) {
  static final PlacementStep DONE = new PlacementStep(true, null, null, "");

  static PlacementStep waiting(String why) {
    return new PlacementStep(false, null, null, why);
  }

  static PlacementStep submit(ShardCommand.Place place) {
    return new PlacementStep(false, place, null, "");
  }

  static PlacementStep refused(String why) {
    return new PlacementStep(false, null, why, "");
  }
}
