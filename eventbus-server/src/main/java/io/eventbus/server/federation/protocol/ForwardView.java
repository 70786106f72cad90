package io.eventbus.server.federation.protocol;

import io.eventbus.protocol.BodyReader;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * View of a {@code Forward} in place: its receivers, and the {@code Deliver} in it.
 *
 * <p>For one thread; reused, so that reading one that names no groups and no further buses
 * allocates nothing. Valid until the buffer changes.
 */
public final class ForwardView {
  /** Maximum number of hops: a chain through all buses is the longest way. */
  private static final int MAX_HOPS = PeerFrames.MAX_TARGETS + 1;

  private final BodyReader in = new BodyReader();
  private int hops;
  private String account = "";
  private boolean plain;
  private int[] targets = new int[8];
  private int targetCount;
  private int[] pickBuses = new int[8];
  private List<String> groups = List.of();
  private List<String> pickGroups = List.of();
  private int deliverStart;
  private int deliverEnd;

  /** Reads and checks a whole body, but for the content of the {@code Deliver} frame. */
  public void read(ByteBuffer buffer, int from, int to) {
    in.wrap(buffer, from, to);
    int hopsAt = in.position();
    hops = in.readInt("Forward.hops");
    if (hops < 1 || hops > MAX_HOPS) {
      throw in.malformed("Forward.hops", hopsAt, hops, "1.." + MAX_HOPS);
    }
    readReceivers();
    int length = in.readLength("Forward.deliver", Integer.MAX_VALUE);
    deliverStart = in.position();
    deliverEnd = deliverStart + length;
    account = "";
    if (deliverEnd < to) {
      in.position(deliverEnd);
      readAccount();
    }
  }

  private void readReceivers() {
    plain = in.readBoolean("Forward.plain");
    readGroups();
    readTargets();
    readPicks();
  }

  private void readAccount() {
    if (in.readPresent("Forward.account")) {
      int accountAt = in.position();
      account = in.readString("AccountForward.account", PeerFrames.MAX_ACCOUNT_BYTES);
      if (account.isEmpty()) {
        throw in.malformed("AccountForward.account", accountAt, "''", "a name");
      }
      readReceivers();
    }
  }

  private void readGroups() {
    groups = List.of();
    for (long n = in.readBlockCount("Forward.groups", 1);
        n > 0;
        n = in.readBlockCount("Forward.groups", 1)) {
      int blockEnd = in.blockEnd();
      groups = groups.isEmpty() ? new ArrayList<>() : groups;
      checkCount("Forward.groups", groups.size() + n);
      for (long i = 0; i < n; i++) {
        groups.add(in.readString("Forward.groups", PeerFrames.MAX_GROUP_BYTES));
      }
      in.checkBlockEnd("Forward.groups", blockEnd);
    }
  }

  private void readTargets() {
    targetCount = 0;
    for (long n = in.readBlockCount("Forward.targets", 1);
        n > 0;
        n = in.readBlockCount("Forward.targets", 1)) {
      int blockEnd = in.blockEnd();
      checkCount("Forward.targets", targetCount + n);
      for (long i = 0; i < n; i++) {
        if (targetCount == targets.length) {
          targets = Arrays.copyOf(targets, targets.length * 2);
        }
        targets[targetCount++] = in.readInt("Forward.targets");
      }
      in.checkBlockEnd("Forward.targets", blockEnd);
    }
  }

  private void readPicks() {
    pickGroups = List.of();
    for (long n = in.readBlockCount("Forward.picks", 2);
        n > 0;
        n = in.readBlockCount("Forward.picks", 2)) {
      int blockEnd = in.blockEnd();
      pickGroups = pickGroups.isEmpty() ? new ArrayList<>() : pickGroups;
      checkCount("Forward.picks", pickGroups.size() + n);
      for (long i = 0; i < n; i++) {
        int at = pickGroups.size();
        if (at == pickBuses.length) {
          pickBuses = Arrays.copyOf(pickBuses, at * 2);
        }
        pickBuses[at] = in.readInt("Pick.bus");
        pickGroups.add(in.readString("Pick.group", PeerFrames.MAX_GROUP_BYTES));
      }
      in.checkBlockEnd("Forward.picks", blockEnd);
    }
  }

  private void checkCount(String field, long count) {
    if (count > PeerFrames.MAX_TARGETS) {
      throw in.tooBig(field, in.position(), count, PeerFrames.MAX_TARGETS);
    }
  }

  /** Returns the number of links by which the events have come. */
  public int hops() {
    return hops;
  }

  /** Returns the account of the events, empty for the default one. */
  public String account() {
    return account;
  }

  /** Returns whether the events are for the subscribers without a group. */
  public boolean plain() {
    return plain;
  }

  /**
   * Returns the groups of the receiver of which one member is to get the events.
   *
   * @return mostly empty; not to be changed
   */
  public List<String> groups() {
    return groups;
  }

  /** Returns the buses to forward the events to. */
  public int[] targets() {
    return Arrays.copyOf(targets, targetCount);
  }

  /** Returns the number of buses to forward the events to. */
  public int targetCount() {
    return targetCount;
  }

  /**
   * Returns the groups at those buses of which one member is to get the events.
   *
   * @return mostly empty; not to be changed
   */
  public List<String> pickGroups() {
    return pickGroups;
  }

  /** Returns the bus of one of {@link #pickGroups}. */
  public int pickBus(int i) {
    return pickBuses[i];
  }

  /** Returns the start of the {@code Deliver} frame. */
  public int deliverStart() {
    return deliverStart;
  }

  /** Returns the end of the {@code Deliver} frame. */
  public int deliverEnd() {
    return deliverEnd;
  }
}
