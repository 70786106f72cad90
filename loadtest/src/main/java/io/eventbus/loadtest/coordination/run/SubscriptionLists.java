package io.eventbus.loadtest.coordination.run;

import io.eventbus.loadtest.coordination.CoordinationClient;
import io.eventbus.loadtest.coordination.CoordinationException;
import io.eventbus.loadtest.coordination.Counter;
import io.eventbus.loadtest.coordination.Register;
import io.eventbus.loadtest.run.Integrity;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.random.RandomGenerator;

/**
 * Lists of subscribers that all clients of one system change: read, change, write back if nobody
 * else did meanwhile. It counts what succeeded, to compare it with what the system holds. A list
 * begins with the number of its changes. Any thread.
 */
final class SubscriptionLists {
  private static final String FIRST = "0 nobody";

  private final AtomicLongArray changed;
  private final AtomicLongArray uncertain;
  private final Integrity[] worst;

  SubscriptionLists(int lists) {
    this.changed = new AtomicLongArray(lists);
    this.uncertain = new AtomicLongArray(lists);
    this.worst = new Integrity[lists];
    Arrays.fill(worst, Integrity.WHOLE);
  }

  int lists() {
    return worst.length;
  }

  void create(CoordinationClient client, int list) {
    client.create(name(list), FIRST);
  }

  /** Enters a client into a list, or takes it out if it stands there. */
  void step(Slot slot, RegisterLoop loop) {
    CoordinationClient client = slot.client();
    String subscriber = "subscriber-" + Thread.currentThread().getName();
    int list = RandomGenerator.getDefault().nextInt(lists());
    while (!loop.isStopped()) {
      Register read = client.read(name(list));
      if (read.isAbsent()) {
        throw new CoordinationException("absent", read.name());
      }
      if (replace(client, list, read, toggle(read.value(), subscriber))) {
        return;
      }
      loop.conflict();
    }
    throw new CoordinationException("stopped", "before " + name(list) + " could be replaced");
  }

  private boolean replace(CoordinationClient client, int list, Register read, String value) {
    try {
      boolean done = client.replace(read, value);
      if (done) {
        changed.incrementAndGet(list);
      }
      return done;
    } catch (CoordinationException e) {
      uncertain.incrementAndGet(list);
      throw e;
    }
  }

  /** Compares one list with the changes of it that succeeded; nothing may be in flight. */
  Integrity check(CoordinationClient client, int list) {
    Register found = client.readNewest(name(list));
    long expected = changed.get(list);
    Integrity now =
        found.isAbsent()
            ? RegisterVerdict.absent(expected)
            : RegisterVerdict.of(
                expected,
                Math.max(0, Counter.of(found.value())),
                found.writes(),
                uncertain.get(list));
    worst[list] = RegisterVerdict.worse(now, worst[list]);
    return worst[list];
  }

  private static String name(int list) {
    return "list-" + list;
  }

  /** Enters a name, or takes it out if it stands there; counts the change. */
  static String toggle(String list, String name) {
    int space = list.indexOf(' ');
    List<String> names = new ArrayList<>(List.of(list.substring(space + 1).split(",", -1)));
    if (!names.remove(name)) {
      names.add(name);
    }
    return Counter.of(list) + 1 + " " + String.join(",", names);
  }
}
