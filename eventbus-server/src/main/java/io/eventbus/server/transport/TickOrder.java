package io.eventbus.server.transport;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * Order in which the deadlines of one loop's connections are checked. A connection in which
 * something has happened or waits is checked in every tick. All others are checked once in each
 * round of {@link #ROUND} ticks, an equal part of them in each tick: to walk tens of thousands of
 * idle connections in one go would keep the others waiting. Confined to the loop.
 */
final class TickOrder {
  /** Ticks of a round, in which every connection is checked. */
  static final int ROUND = 10;

  /** Place of one connection. */
  static final class Place {
    private final ConnectionLoop.Ticking connection;
    private int index;
    private boolean awake;
    private boolean woken;

    private Place(ConnectionLoop.Ticking connection, int index) {
      this.connection = connection;
      this.index = index;
    }
  }

  private static final int LEFT = -1;

  private final List<Place> all = new ArrayList<>();
  private final List<Place> awake = new ArrayList<>();
  // Places below it are still to be looked at in this round.
  private int next;

  /** Adds a connection, which is awake. */
  Place join(ConnectionLoop.Ticking connection) {
    Place place = new Place(connection, all.size());
    all.add(place);
    wake(place);
    return place;
  }

  /** Removes a connection; a second call does nothing. */
  void leave(Place place) {
    if (place.index == LEFT) {
      return;
    }
    Place last = all.remove(all.size() - 1);
    if (last != place) {
      all.set(place.index, last);
      last.index = place.index;
    }
    place.index = LEFT;
  }

  /** Notes that something has happened in a connection. */
  void wake(Place place) {
    place.woken = true;
    if (!place.awake) {
      place.awake = true;
      awake.add(place);
    }
  }

  /**
   * Checks all that are awake, and a part of the others.
   *
   * @param look returns whether the connection may sleep; may add, remove and wake connections
   */
  void tick(Predicate<ConnectionLoop.Ticking> look) {
    // From the end: the entry that takes the place of a removed one has been checked.
    for (int i = awake.size() - 1; i >= 0; i--) {
      Place place = awake.get(i);
      place.woken = false;
      if (place.index == LEFT || (look.test(place.connection) && !place.woken)) {
        place.awake = false;
        Place last = awake.remove(awake.size() - 1);
        if (last != place) {
          awake.set(i, last);
        }
      }
    }
    for (int left = (all.size() + ROUND - 1) / ROUND; left > 0; left--) {
      next = next == 0 ? all.size() : Math.min(next, all.size());
      if (next == 0) {
        return;
      }
      Place place = all.get(--next);
      if (!place.awake && !look.test(place.connection)) {
        wake(place);
      }
    }
  }

  /** Returns all connections, in a list of the caller's own. */
  List<ConnectionLoop.Ticking> connections() {
    List<ConnectionLoop.Ticking> list = new ArrayList<>(all.size());
    all.forEach(place -> list.add(place.connection));
    return list;
  }

  boolean isEmpty() {
    return all.isEmpty();
  }

  int size() {
    return all.size();
  }
}
