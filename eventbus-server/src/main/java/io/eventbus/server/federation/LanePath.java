package io.eventbus.server.federation;

import io.eventbus.protocol.PeerFrames;
import io.eventbus.schema.Overflow;
import io.eventbus.server.routing.Delivery;
import io.eventbus.server.routing.Subscriber;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A way to another bus, and through it to further ones: what routing takes for a subscriber.
 * Immutable; what it leads to is confined to the loop of its lane.
 */
final class LanePath implements Subscriber {
  private static final int[] NONE = {};

  /**
   * Groups at buses behind this one.
   *
   * @param bus where
   * @param group which
   */
  record Pick(Peer bus, String group) {}

  private final Lane lane;
  private final byte[] head;
  private final List<Peer> behind;
  private final boolean plain;
  private final List<String> groups;
  private final List<Pick> picks;
  private final int hops;
  private final @Nullable RelayToken token;

  private LanePath(
      Lane lane,
      byte[] head,
      List<Peer> behind,
      boolean plain,
      List<String> groups,
      List<Pick> picks,
      int hops,
      @Nullable RelayToken token) {
    this.lane = lane;
    this.head = head;
    this.behind = behind;
    this.plain = plain;
    this.groups = groups;
    this.picks = picks;
    this.hops = hops;
    this.token = token;
  }

  static LanePath of(
      Lane lane,
      int hops,
      boolean plain,
      List<String> groups,
      List<Peer> behind,
      List<Pick> picks,
      @Nullable RelayToken token) {
    int[] targets =
        behind.isEmpty() ? NONE : behind.stream().mapToInt(Peer::registryNumber).toArray();
    int[] pickBuses =
        picks.isEmpty() ? NONE : picks.stream().mapToInt(p -> p.bus().registryNumber()).toArray();
    List<String> pickGroups = picks.stream().map(Pick::group).toList();
    byte[] head = PeerFrames.forwardHead(hops, plain, groups, targets, pickBuses, pickGroups);
    return new LanePath(lane, head, behind, plain, groups, picks, hops, token);
  }

  /** The same without the buses behind, for when those are reached in another way. */
  LanePath alone() {
    return of(lane, hops, plain, groups, List.of(), List.of(), token);
  }

  /** The groups at one of the buses behind. */
  List<String> groupsOf(Peer bus) {
    return picks.stream().filter(pick -> pick.bus() == bus).map(Pick::group).toList();
  }

  List<Peer> behind() {
    return behind;
  }

  byte[] head() {
    return head;
  }

  int hops() {
    return hops;
  }

  @Override
  public int loop() {
    return lane.number();
  }

  @Override
  public void offer(Delivery delivery, Overflow overflow) {
    lane.offer(this, delivery, overflow, token);
  }

  @Override
  public boolean isFull() {
    return full() != null;
  }

  /** The lane that has no room, of those that a frame would take now; null if all have. */
  private @Nullable Lane full() {
    if (lane.isFull()) {
      return lane;
    }
    if (lane.isBypassing()) {
      for (Peer target : behind) {
        Lane direct = target.lane(lane.number());
        if (direct.isFull()) {
          return direct;
        }
      }
    }
    return null;
  }

  @Override
  public boolean isCrowded() {
    return lane.isCrowded();
  }

  @Override
  public void whenNotFull(Runnable retry) {
    Lane full = full();
    (full == null ? lane : full).whenNotFull(retry);
  }
}
