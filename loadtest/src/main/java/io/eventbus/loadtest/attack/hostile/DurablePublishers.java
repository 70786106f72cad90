package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.AttackTally;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.Needs;
import io.eventbus.loadtest.attack.wire.AttackPeer;
import io.eventbus.loadtest.attack.wire.AttackWire;
import io.eventbus.loadtest.attack.wire.DurableRequests;
import io.eventbus.loadtest.attack.wire.DurableRequests.Conditions;
import io.eventbus.loadtest.attack.wire.Octets;
import io.eventbus.loadtest.attack.wire.Opening;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Welcome;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Connections that publish to durable topics as fast as the bus takes it. */
record DurablePublishers(String name, Publication kind, long conns) implements Attack {
  private static final String JOURNAL = "attacked attacked.>";
  private static final int TURN = 4;
  private static final int MESSAGE = 60 * 1024;

  /** Producer names of a connection. */
  private static final int MAX_NAMES = 256;

  private static final int LARGEST = 1 << 20;
  private static final int SMALL = 1;
  private static final int SOME = 100;

  /** Twice the time after which what is stored is looked at. */
  private static final int QUOTA_SECONDS = 12;

  private static final long TEN_YEARS = 10L * 365 * 24 * 3_600_000;
  private static final long SOON = 3_000;

  /** Publications that can be made. */
  enum Publication {
    /** Small events; the answers are never read. */
    FLOOD("smallest events whose confirmations are never read", SMALL, null),
    /** Events of 1 MiB. */
    BIG("events of 1 MiB", LARGEST, null),
    /** Each event for another topic, of which the last event is kept. */
    TOPICS("an event for each of ever new topics that keep the latest", SMALL, null),
    /** Each event of another producer. */
    NAMES("an event of each of ever new producer names", SMALL, null),
    /** Each event expects an empty topic. */
    EXPECT("events that expect an empty topic", SMALL, ErrorCode.EXPECTATION_FAILED),
    /** Events for a journal that is full. */
    FULL("events for a journal that refuses what is above its size", SOME, ErrorCode.STORE_FULL),
    /** Events of an account that has no more room. */
    QUOTA("events of an account above its quota of stored bytes", SOME, ErrorCode.STORE_FULL),
    /** Events that wait for ten years. */
    DELAY("events that wait for ten years", SOME, null),
    /** Events that are all due at one moment. */
    DUE("events that are due at the same moment", SMALL, null),
    /** Events that have expired when they are stored. */
    TTL("events that expire in a millisecond", SMALL, null);

    private final String what;
    private final int bytes;
    private final @Nullable ErrorCode refusal;

    Publication(String what, int bytes, @Nullable ErrorCode refusal) {
      this.what = what;
      this.bytes = bytes;
      this.refusal = refusal;
    }
  }

  @Override
  public String what() {
    return conns + " connections that publish " + kind.what;
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("conns", conns);
  }

  @Override
  public Needs needs(Map<String, Long> knobs) {
    return switch (kind) {
      case TOPICS -> Needs.NOTHING.withJournals(JOURNAL + " keep=latest");
      case FULL -> Needs.NOTHING.withJournals(JOURNAL + " max-bytes=1MiB full=refuse");
      case QUOTA ->
          Needs.NOTHING
              .withJournals(JOURNAL + " account=hostile")
              .withAccounts(
                  """
                  [account hostile]
                  quota durable-bytes = 1MiB
                  """)
              .lasting(QUOTA_SECONDS);
      default -> Needs.NOTHING.withJournals(JOURNAL);
    };
  }

  @Override
  public void run(Field field) throws InterruptedException {
    long due = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(SOON);
    new Swarm(
            field,
            Opening.client(field.bus()),
            field.knob("conns"),
            n -> new Publisher(field.tally(), n, due))
        .hold();
    ErrorCode refusal = kind.refusal;
    if (refusal != null) {
      long refused = field.tally().get(refusal.name());
      field.tally().check("what is too much is refused", refused > 0, refused + " " + refusal);
    }
  }

  /** Connection that publishes. On one event loop. */
  private final class Publisher implements AttackPeer {
    private final AttackTally tally;
    private final int number;
    private final long due;
    private final byte[] payload = new byte[kind.bytes];
    private final long last = kind == Publication.NAMES ? MAX_NAMES : Long.MAX_VALUE;
    private long sent;
    private boolean begun;

    Publisher(AttackTally tally, int number, long due) {
      this.tally = tally;
      this.number = number;
      this.due = due;
    }

    @Override
    public void welcomed(AttackWire wire, Welcome welcome) {
      if (kind == Publication.FLOOD) {
        wire.stopReading();
      }
      begun = true;
      pump(wire);
    }

    @Override
    public void writable(AttackWire wire) {
      if (begun) {
        pump(wire);
      }
    }

    @Override
    public boolean reads() {
      return true;
    }

    @Override
    public void frame(AttackWire wire, int type, ByteBuffer message, int from, int to) {
      if (type == TypeCode.CONFIRM.code()) {
        tally.add("confirmed", 1);
        if (ControlFrames.confirm(message, from, to).getAbout() == last) {
          // The next connection has other names.
          wire.end();
        }
      } else if (type == TypeCode.PROBLEM.code()) {
        tally.add(ControlFrames.problem(message, from, to).getCode().name(), 1);
      }
    }

    private void pump(AttackWire wire) {
      for (int i = 0; i < TURN && wire.isWritable() && sent < last; i++) {
        wire.send(Octets.message(frames()));
      }
      if (wire.isWritable() && sent < last) {
        wire.after(0, () -> pump(wire));
      }
    }

    /** Makes what one message has room for, at least one frame. */
    private byte[][] frames() {
      List<byte[]> frames = new ArrayList<>();
      int size = 0;
      while (size < MESSAGE && sent < last) {
        byte[] frame = frame(++sent);
        frames.add(frame);
        size += frame.length;
      }
      return frames.toArray(byte[][]::new);
    }

    private byte[] frame(long n) {
      String topic = "attacked." + number;
      return switch (kind) {
        case TOPICS -> publish(topic + "." + n, 1, Conditions.NONE);
        case NAMES -> publish(topic, n, new Conditions(0, 0, 0, "p-" + number + "-" + n, 1));
        case EXPECT -> publish("attacked.same", n, new Conditions(n == 1 ? 0 : 1, 0, 0, null, 0));
        case DELAY -> publish(topic, n, new Conditions(0, TEN_YEARS, 0, null, 0));
        case DUE -> publish(topic, n, new Conditions(0, untilDue(), 0, null, 0));
        case TTL -> publish(topic, n, new Conditions(0, 0, 1, null, 0));
        default -> publish(topic, n, Conditions.NONE);
      };
    }

    private long untilDue() {
      return Math.max(1, TimeUnit.NANOSECONDS.toMillis(due - System.nanoTime()));
    }

    private byte[] publish(String topic, long sequence, Conditions conditions) {
      return DurableRequests.publish(topic, sequence, payload, conditions);
    }
  }
}
