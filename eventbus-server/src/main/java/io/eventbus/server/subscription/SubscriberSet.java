package io.eventbus.server.subscription;

import io.eventbus.server.delivery.Subscriber;

/**
 * Different subscribers, numbered in the order in which they came: a hash table of places in an
 * array, because a map would create an object for each of very many. Confined to one thread.
 */
final class SubscriberSet {
  private static final int[] NO_PLACES = {};

  private final Subscriber[] members;
  private final int[] places;
  private int size;

  /** Creates an empty set for at most so many. */
  SubscriberSet(int max) {
    members = new Subscriber[max];
    // A single one, the usual case, needs none.
    places = max < 2 ? NO_PLACES : new int[Integer.highestOneBit(max) << 2];
  }

  /** Adds a subscriber; returns the number of one that is there already, else -1. */
  int add(Subscriber subscriber) {
    if (places.length > 0) {
      int slot = slot(subscriber);
      if (places[slot] != 0) {
        return places[slot] - 1;
      }
      places[slot] = size + 1;
    }
    members[size++] = subscriber;
    return -1;
  }

  /** Returns a subscriber's number, -1 if it is not there. */
  int find(Subscriber subscriber) {
    if (places.length > 0) {
      return places[slot(subscriber)] - 1;
    }
    return size > 0 && members[0] == subscriber ? 0 : -1;
  }

  int size() {
    return size;
  }

  private int slot(Subscriber subscriber) {
    int mask = places.length - 1;
    int slot = (System.identityHashCode(subscriber) * 0x9e3779b9) >>> 7 & mask;
    while (places[slot] != 0 && members[places[slot] - 1] != subscriber) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }
}
