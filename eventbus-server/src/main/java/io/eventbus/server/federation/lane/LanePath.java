package io.eventbus.server.federation.lane;

import io.eventbus.schema.Overflow;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.Subscriber;
import io.eventbus.server.federation.protocol.PeerFrames;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Path to a peer, and through it to further ones, in the role of a subscriber for routing.
 * Immutable; the lane behind it is confined to its loop.
 */
public final class LanePath implements Subscriber {
  private static final int[] NONE = {};
  private static final byte[] NO_TAIL = {};

  /** Maximum bytes of the type code and the lengths in a frame's head. */
  private static final int MAX_NUMBERS = 32;

  /**
   * Group at a bus behind this one.
   *
   * @param bus bus with the group
   */
  public record Pick(Peer bus, String group) {}

  private final Lane lane;
  private final String account;
  private final byte[] head;
  private final byte[] tail;
  private final List<Peer> behind;
  private final boolean ungrouped;
  private final List<String> groups;
  private final List<Pick> picks;
  private final int hops;
  private final Overflow apart;
  private final @Nullable FrameToken token;

  private LanePath(
      Lane lane,
      String account,
      byte[] head,
      byte[] tail,
      List<Peer> behind,
      boolean ungrouped,
      List<String> groups,
      List<Pick> picks,
      int hops,
      Overflow apart,
      @Nullable FrameToken token) {
    this.lane = lane;
    this.account = account;
    this.head = head;
    this.tail = tail;
    this.behind = behind;
    this.ungrouped = ungrouped;
    this.groups = groups;
    this.picks = picks;
    this.hops = hops;
    this.apart = apart;
    this.token = token;
  }

  /**
   * Creates a path.
   *
   * @param lane first lane of the path
   * @param account account of the events, empty for the default account
   * @param apart policy on separate lanes: for buses without a selected group
   * @param token tracker of the frames, if anything waits for it
   */
  public static LanePath of(
      Lane lane,
      String account,
      int hops,
      boolean ungrouped,
      List<String> groups,
      List<Peer> behind,
      List<Pick> picks,
      Overflow apart,
      @Nullable FrameToken token) {
    int[] targets =
        behind.isEmpty() ? NONE : behind.stream().mapToInt(Peer::registryNumber).toArray();
    int[] pickBuses =
        picks.isEmpty() ? NONE : picks.stream().mapToInt(p -> p.bus().registryNumber()).toArray();
    List<String> pickGroups = picks.stream().map(Pick::group).toList();
    boolean isNamed = !account.isEmpty();
    byte[] head =
        isNamed
            ? PeerFrames.accountForwardHead(hops)
            : PeerFrames.forwardHead(hops, ungrouped, groups, targets, pickBuses, pickGroups);
    byte[] tail =
        isNamed
            ? PeerFrames.accountForwardTail(
                account, ungrouped, groups, targets, pickBuses, pickGroups)
            : NO_TAIL;
    return new LanePath(
        lane, account, head, tail, behind, ungrouped, groups, picks, hops, apart, token);
  }

  /** Returns the path without the buses behind, for when those are reached by another path. */
  LanePath alone() {
    return of(lane, account, hops, ungrouped, groups, List.of(), List.of(), apart, token);
  }

  /** Returns the path of the same frames to a bus behind, bypassing the first one. */
  LanePath past(Peer bus, FrameToken follows) {
    return of(
        bus.lane(lane.number()),
        account,
        hops,
        true,
        groupsOf(bus),
        List.of(),
        List.of(),
        apart,
        follows);
  }

  /**
   * Returns the policy of a full lane when each bus is reached by its own: none must be lost for a
   * group, whose members' policies are known at their own bus only; for the others the strictest
   * policy of the branch is what the publisher has waited for.
   */
  Overflow overflow() {
    return groups.isEmpty() ? apart : Overflow.BLOCK;
  }

  /** Returns the lane by which frames reach a bus of this path now. */
  public Lane laneTo(Peer bus) {
    return bus != lane.peer() && lane.isBypassing() ? bus.lane(lane.number()) : lane;
  }

  /** Returns the groups at a bus behind. */
  List<String> groupsOf(Peer bus) {
    return picks.stream().filter(pick -> pick.bus() == bus).map(Pick::group).toList();
  }

  /** Returns the first bus. */
  public Peer child() {
    return lane.peer();
  }

  public List<Peer> behind() {
    return behind;
  }

  /** Returns the maximum bytes of {@link #writeHead}, whatever the delivery. */
  int maxHeadBytes() {
    return head.length + MAX_NUMBERS;
  }

  /** Returns the bytes before a delivery on this path. */
  int headBytes(Delivery delivery) {
    return PeerFrames.forwardHeadSize(head, delivery.frameBytes(), tail.length);
  }

  /** Writes the head. */
  void writeHead(ByteBuffer out, Delivery delivery) {
    PeerFrames.writeForwardHead(out, head, delivery.frameBytes(), tail.length);
  }

  /** Returns the bytes after a delivery; empty for the default account. Not to be changed. */
  byte[] tail() {
    return tail;
  }

  int hops() {
    return hops;
  }

  /**
   * Returns whether the frames are for members of groups at the first bus, which no other bus
   * serves.
   */
  boolean isForGroups() {
    return !groups.isEmpty();
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

  /** Returns a lane without room among those that a frame would take now; null if all have room. */
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
