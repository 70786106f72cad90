package io.eventbus.server.routing;

import io.eventbus.schema.Overflow;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Chooses, for one frame, one member of each group: in turn, and preferring those whose queues have
 * room. A connection that is chosen gets one delivery of its own, which names its group
 * subscriptions, instead of the shared one.
 *
 * <p>Confined to its loop; empty between frames.
 */
final class GroupChoice {
  /** A chosen connection and those of its subscriptions that the frame is for. */
  private static final class Chosen {
    final Subscriber member;
    Overflow overflow;
    long[] ids = new long[1];
    int idCount;
    boolean alsoPlain;

    Chosen(Subscriber member, Overflow overflow) {
      this.member = member;
      this.overflow = overflow;
    }

    void add(Subscription s) {
      if (idCount == ids.length) {
        ids = Arrays.copyOf(ids, idCount * 2);
      }
      ids[idCount++] = s.id();
      overflow = Target.stricter(overflow, s.overflow());
    }
  }

  private final List<Chosen> chosen = new ArrayList<>();
  private boolean anyPlain;

  /** Whether publishers have to wait, because no member of a group has room. */
  static boolean allFull(Subscription[] members) {
    for (Subscription s : members) {
      if (s.overflow() != Overflow.BLOCK || !s.subscriber().isFull()) {
        return false;
      }
    }
    return members.length > 0;
  }

  /** Chooses for the next frame of a topic, whose turn is counted by the caller. */
  void choose(Route route, int turn) {
    // An error may have kept the last frame's choice from being cleared.
    clear();
    if (route.groups.length == 0) {
      return;
    }
    for (Subscription[] members : route.groups) {
      choose(route, members, turn);
    }
  }

  /**
   * Chooses for a frame that another bus has sent for some groups.
   *
   * @return how many of them have no member here
   */
  int choose(Route route, int turn, List<String> groups) {
    clear();
    int missing = 0;
    for (String group : groups) {
      Subscription[] members = route.group(group);
      if (members == null) {
        missing++;
      } else {
        choose(route, members, turn);
      }
    }
    return missing;
  }

  private void choose(Route route, Subscription[] members, int turn) {
    Subscription s = pick(members, turn);
    Chosen c = find(s.subscriber());
    if (c == null) {
      c = new Chosen(s.subscriber(), s.overflow());
      Overflow plain = route.plainOverflow(s.subscriber());
      if (plain != null) {
        c.overflow = Target.stricter(c.overflow, plain);
        c.alsoPlain = true;
        anyPlain = true;
      }
      chosen.add(c);
    }
    c.add(s);
  }

  private static Subscription pick(Subscription[] members, int turn) {
    int first = Math.floorMod(turn, members.length);
    Subscription withRoom = null;
    for (int i = 0; i < members.length; i++) {
      Subscription s = members[(first + i) % members.length];
      if (!s.subscriber().isCrowded()) {
        return s;
      }
      if (withRoom == null && s.overflow() == Overflow.BLOCK && !s.subscriber().isFull()) {
        withRoom = s;
      }
    }
    if (withRoom != null) {
      return withRoom;
    }
    // All are full, and nobody had to wait for that: some member's policy makes room, others' would
    // take the event beyond their bound.
    for (int i = 0; i < members.length; i++) {
      Subscription s = members[(first + i) % members.length];
      if (s.overflow() != Overflow.BLOCK) {
        return s;
      }
    }
    return members[first];
  }

  private @Nullable Chosen find(Subscriber member) {
    for (Chosen c : chosen) {
      if (c.member == member) {
        return c;
      }
    }
    return null;
  }

  /** Leaves out those who get a delivery of their own. */
  Target[] without(Target[] targets) {
    if (!anyPlain) {
      return targets;
    }
    return Arrays.stream(targets)
        .filter(t -> chosen.stream().noneMatch(c -> c.alsoPlain && c.member == t.subscriber()))
        .toArray(Target[]::new);
  }

  int size() {
    return chosen.size();
  }

  Subscriber member(int i) {
    return chosen.get(i).member;
  }

  Overflow overflow(int i) {
    return chosen.get(i).overflow;
  }

  long[] ids(int i) {
    return chosen.get(i).ids;
  }

  int idCount(int i) {
    return chosen.get(i).idCount;
  }

  void clear() {
    chosen.clear();
    anyPlain = false;
  }
}
