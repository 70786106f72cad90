package io.eventbus.server.queue;

import io.eventbus.protocol.DeliverView;
import io.eventbus.protocol.EventCursor;
import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.server.delivery.Delivery;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Last event of each key in one frame, which is all of it that CONFLATE may have to keep. A frame
 * goes to many subscribers of a loop and may hold a great many tiny events, so the result is
 * remembered for the next subscriber, and no more is searched than fits into a queue. Confined to
 * its loop.
 */
public final class LastEvents {
  /**
   * Maximum of events of one frame that are kept: it bounds the cost of a frame for each subscriber
   * that is behind, whatever its size.
   */
  static final int MAX_EVENTS = 1024;

  private final DeliverView view = new DeliverView();
  private final EventCursor walk = new EventCursor();
  private ByteBuffer in = ByteBuffer.allocate(0);
  private @Nullable Delivery delivery;
  private int generation;
  private String topic = "";
  private int cut;
  private int count;
  private int[] numbers = {};
  private int[] starts = {};
  private @Nullable String[] keys = {};

  /**
   * Searches the last events of a frame.
   *
   * @param limit bytes of kept events beyond which older ones are not searched
   */
  void find(Delivery of, long limit) {
    if (delivery == of && generation == of.generation()) {
      return;
    }
    delivery = null;
    in = of.frame();
    FrameCursor frame = new FrameCursor().wrap(in, 0, in.limit());
    frame.next();
    view.readOneBlock(in, frame.bodyStart(), frame.bodyEnd());
    topic = view.topic();
    int[] all = new int[view.eventCount()];
    walk.wrap(in, view.eventsStart(), view.eventsEnd(), FrameLimits.UNLIMITED);
    while (walk.next()) {
      all[walk.index()] = walk.eventStart();
    }
    choose(all, limit);
    delivery = of;
    generation = of.generation();
  }

  private void choose(int[] all, long limit) {
    Set<@Nullable String> seen = new HashSet<>();
    long bytes = 0;
    count = 0;
    cut = 0;
    for (int number = all.length - 1; number >= 0; number--) {
      walk.moveTo(number, all[number]);
      String key = walk.key();
      if (!seen.add(key)) {
        continue;
      }
      bytes += Conflater.keptBytes(walk.eventEnd() - walk.eventStart(), key);
      if (bytes > limit || count == MAX_EVENTS) {
        cut = number + 1;
        return;
      }
      if (count == numbers.length) {
        grow();
      }
      numbers[count] = number;
      starts[count] = all[number];
      keys[count++] = key;
    }
  }

  private void grow() {
    int room = Math.max(16, count * 2);
    numbers = Arrays.copyOf(numbers, room);
    starts = Arrays.copyOf(starts, room);
    keys = Arrays.copyOf(keys, room);
  }

  /** Returns how many were found; the newest is number 0. */
  int count() {
    return count;
  }

  /** Returns the number of the first event that was searched: those before it do not fit. */
  int cut() {
    return cut;
  }

  String topic() {
    return topic;
  }

  DeliverView frame() {
    return view;
  }

  ByteBuffer bytes() {
    return in;
  }

  @Nullable String key(int i) {
    return keys[i];
  }

  int number(int i) {
    return numbers[i];
  }

  /** Returns a cursor at a found event. */
  EventCursor event(int i) {
    walk.moveTo(numbers[i], starts[i]);
    return walk;
  }

  /** Forgets the frame; to be called from time to time. */
  public void clear() {
    if (delivery != null) {
      delivery = null;
      in = ByteBuffer.allocate(0);
      numbers = new int[0];
      starts = new int[0];
      keys = new String[0];
    }
  }
}
