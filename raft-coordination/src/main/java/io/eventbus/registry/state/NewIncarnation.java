package io.eventbus.registry.state;

import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import java.util.List;

/**
 * First state of a new cluster, derived from the last one that is known of another. Pure.
 *
 * <p>Everything after that state is lost and unknown. So that nothing which was given out then is
 * given out again, numbers of buses and versions go on behind a gap; every bus is DOWN until it
 * registers again; and the memory of commands is empty, in such a way that a command from before is
 * refused as forgotten, not applied a second time. Shards stay as they were: the files of their
 * replicas may come back with the buses.
 */
public final class NewIncarnation {
  /**
   * Gap of numbers: more lives of buses than may have begun since the state was written, 65,536.
   */
  public static final int NUMBER_GAP = 1 << 16;

  /**
   * Gap of versions: more commands than may have been applied since the state was written, 2 to the
   * 40th.
   */
  public static final long VERSION_GAP = 1L << 40;

  private NewIncarnation() {}

  /**
   * Derives the first state.
   *
   * @throws IllegalArgumentException if no numbers or versions are left behind the gap
   */
  public static RegistryState of(RegistryState last) {
    RegistryImage image = last.image();
    Images.range("nextNumber", image.nextNumber(), 1, Integer.MAX_VALUE - (long) NUMBER_GAP);
    Images.range("version", image.version(), 0, Long.MAX_VALUE - VERSION_GAP);
    List<BusInfo> buses = image.buses().stream().map(bus -> bus.withState(BusState.DOWN)).toList();
    long version = image.version() + VERSION_GAP;
    return RegistryState.restore(
        new RegistryImage(
            image.limits(),
            version,
            image.timeMillis(),
            image.nextNumber() + NUMBER_GAP,
            buses,
            image.topics(),
            image.revocations(),
            image.shards(),
            List.of(),
            List.of(),
            version,
            version));
  }
}
