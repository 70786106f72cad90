package io.eventbus.link.stream;

import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Queue with access by index, which grows by doubling. Confined to one thread. */
final class FrameRing<F> {
  private static final int MIN_CAPACITY = 16;

  private @Nullable Object[] ring = new Object[MIN_CAPACITY];
  private int head;
  private int size;

  int size() {
    return size;
  }

  // The length of the ring is a power of two.
  private int index(int i) {
    return (head + i) & (ring.length - 1);
  }

  @SuppressWarnings("unchecked")
  F get(int i) {
    return (F) ring[index(i)];
  }

  void addLast(F frame) {
    grow();
    ring[index(size++)] = frame;
  }

  void addFirst(F frame) {
    grow();
    head = index(-1);
    ring[head] = frame;
    size++;
  }

  private void grow() {
    if (size == ring.length) {
      resize(2 * size);
    }
  }

  private void resize(int capacity) {
    @Nullable Object[] other = new Object[capacity];
    for (int i = 0; i < size; i++) {
      other[i] = get(i);
    }
    ring = other;
    head = 0;
  }

  F removeFirst() {
    F first = get(0);
    ring[head] = null;
    head = index(1);
    size--;
    return first;
  }

  F removeLast() {
    F last = get(size - 1);
    ring[index(--size)] = null;
    return last;
  }

  /** Removes the frames that a condition, which is asked once for each in order, is true for. */
  void removeIf(Predicate<F> condition) {
    for (int i = size; i > 0; i--) {
      F frame = removeFirst();
      if (!condition.test(frame)) {
        addLast(frame);
      }
    }
  }

  /** Shrinks an empty ring that has grown. */
  void trim() {
    if (size == 0 && ring.length > MIN_CAPACITY) {
      resize(MIN_CAPACITY);
    }
  }
}
