package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.AttackTally;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.Needs;
import io.eventbus.loadtest.attack.wire.AttackPeer;
import io.eventbus.loadtest.attack.wire.AttackWire;
import io.eventbus.loadtest.attack.wire.ClientFrames;
import io.eventbus.loadtest.attack.wire.DurableRequests;
import io.eventbus.loadtest.attack.wire.DurableRequests.Conditions;
import io.eventbus.loadtest.attack.wire.Octets;
import io.eventbus.loadtest.attack.wire.Opening;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.ConsumeStart;
import io.eventbus.schema.Welcome;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Connections that read a journal, which is filled before. */
record DurableReaders(String name, Reading reading, long conns, long each) implements Attack {
  private static final int MIN_SECONDS = 8;
  private static final int FILL_EVENTS = 40_000;
  private static final int FILL_BYTES = 500;
  private static final int FILL_EACH = 2_000;
  private static final int FILL_TOPICS = 20_000;
  private static final int CHUNK = 200;
  private static final int BURST = 64;
  private static final long UNLIMITED = Long.MAX_VALUE / 4;
  private static final String ALL = "attacked.>";

  /** Kinds of reading. */
  enum Reading {
    /** Replays from the first position that are never read. */
    NEVER("replay all and never read"),
    /** Replays that begin again and again. */
    RESTART("begin to replay all and stop, in a loop"),
    /** Replays of filters that no event of the journal matches. */
    NOTHING("replay what no event matches, in a loop"),
    /** Questions. */
    ASK("ask about the journal in a loop"),
    /** Settlements with confirmation. */
    SETTLE("settle with confirm in a loop"),
    /** Durable subscriptions with ever new names. */
    NAMES("begin durable subscriptions with ever new names"),
    /** Consumers of the same durable subscription that come and go. */
    TAKE_OVER("take over one durable subscription in a loop"),
    /** The latest value of each of many topics. */
    LATEST("read latest values and stop, in a loop");

    private final String what;

    Reading(String what) {
      this.what = what;
    }
  }

  @Override
  public String what() {
    return conns + " connections that " + reading.what;
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("conns", conns, "each", each, "events", (long) FILL_EVENTS);
  }

  @Override
  public Needs needs(Map<String, Long> knobs) {
    return Needs.NOTHING
        .withJournals("attacked attacked.>" + (reading == Reading.LATEST ? " keep=latest" : ""))
        .lasting(MIN_SECONDS);
  }

  @Override
  public void run(Field field) throws InterruptedException {
    fill(field);
    int consumers = field.knob("each");
    new Swarm(
            field,
            Opening.client(field.bus()),
            field.knob("conns"),
            n -> new Reader(field.tally(), n, consumers))
        .hold();
    if (reading != Reading.NEVER) {
      long answers = field.tally().get("answered");
      field.tally().check("readers are answered", answers > 0, answers + " answers");
    }
  }

  /** Fills the journal by a client that waits for its confirmations. */
  private static void fill(Field field) throws InterruptedException {
    int events = field.knob("events");
    field.wires().openHonest(Opening.client(field.bus()), new Filler(field.tally(), events));
    while (!field.over() && field.tally().get("filled") < events) {
      field.sleep(10);
    }
  }

  /** Client that publishes many events, a part at a time. On one event loop. */
  private static final class Filler implements AttackPeer {
    private final AttackTally tally;
    private final int events;
    private final byte[] payload = new byte[FILL_BYTES];
    private int sent;
    private int open;

    Filler(AttackTally tally, int events) {
      this.tally = tally;
      this.events = events;
    }

    @Override
    public void welcomed(AttackWire wire, Welcome welcome) {
      next(wire);
    }

    private void next(AttackWire wire) {
      List<byte[]> frames = new ArrayList<>();
      for (int i = 0; i < FILL_EACH && sent < events; i++) {
        int n = sent++;
        String topic = "attacked." + n % FILL_TOPICS;
        frames.add(DurableRequests.publish(topic, 1 + n / FILL_TOPICS, payload, Conditions.NONE));
      }
      open = frames.size();
      if (open > 0) {
        wire.send(Octets.message(frames.toArray(byte[][]::new)));
      }
    }

    @Override
    public boolean reads() {
      return true;
    }

    @Override
    public void frame(AttackWire wire, int type, ByteBuffer message, int from, int to) {
      tally.add("filled", 1);
      if (--open == 0) {
        next(wire);
      }
    }
  }

  /** Connection that reads. On one event loop. */
  private final class Reader implements AttackPeer {
    private final AttackTally tally;
    private final int number;
    private final int consumers;
    private long next = 1;
    private boolean active;
    private long settled;
    private int open;

    Reader(AttackTally tally, int number, int consumers) {
      this.tally = tally;
      this.number = number;
      this.consumers = consumers;
    }

    @Override
    public void welcomed(AttackWire wire, Welcome welcome) {
      switch (reading) {
        case NEVER -> {
          for (int from = 1; from <= consumers; from += CHUNK) {
            int first = from;
            int last = Math.min(consumers, first + CHUNK - 1);
            send(
                wire,
                IntStream.rangeClosed(first, last)
                    .mapToObj(id -> consume(id, ALL, "", ConsumeStart.FIRST)));
          }
          wire.stopReading();
        }
        case SETTLE ->
            send(wire, Stream.of(consume(1, ALL, "settles-" + number, ConsumeStart.FIRST)));
        default -> {
          for (int i = 0; i < consumers; i++) {
            again(wire);
          }
        }
      }
    }

    private byte[] consume(long id, String filter, String name, ConsumeStart start) {
      return DurableRequests.consume(id, filter, name, start, UNLIMITED);
    }

    private void send(AttackWire wire, Stream<byte[]> frames) {
      wire.send(Octets.message(frames.toArray(byte[][]::new)));
    }

    /** Sends what is done in a loop. */
    private void again(AttackWire wire) {
      long id = next++;
      switch (reading) {
        case RESTART -> send(wire, Stream.of(consume(id, ALL, "", ConsumeStart.FIRST)));
        case LATEST -> send(wire, Stream.of(consume(id, ALL, "", ConsumeStart.LATEST_VALUES)));
        case NOTHING ->
            send(wire, Stream.of(consume(id, "attacked.*.none", "", ConsumeStart.FIRST)));
        case TAKE_OVER -> send(wire, Stream.of(consume(id, ALL, "taken", ConsumeStart.FIRST)));
        case NAMES -> send(wire, Stream.of(consume(id, ALL, number + "-" + id, ConsumeStart.NEW)));
        case ASK -> send(wire, Stream.of(DurableRequests.ask(id, "attacked.1", "taken", 1)));
        default -> {
          // These do not go round.
        }
      }
    }

    @Override
    public boolean reads() {
      return reading != Reading.NEVER;
    }

    @Override
    public void frame(AttackWire wire, int type, ByteBuffer message, int from, int to) {
      if (type == TypeCode.FEED.code()) {
        tally.add("fed", 1);
        if (reading == Reading.SETTLE && !active) {
          active = true;
          settle(wire);
        }
      } else if (type == TypeCode.CONFIRM.code()) {
        tally.add("answered", 1);
        var confirm = ControlFrames.confirm(message, from, to);
        if (confirm.getTypeCode() == TypeCode.CONSUME.code() && reading != Reading.SETTLE) {
          wire.sendMessage(ClientFrames.unsubscribe(confirm.getAbout()));
        } else if (confirm.getTypeCode() == TypeCode.UNSUBSCRIBE.code()) {
          again(wire);
        } else if (confirm.getTypeCode() == TypeCode.SETTLE.code()) {
          settled(wire);
        }
      } else if (type == TypeCode.TOLD.code()) {
        tally.add("answered", 1);
        again(wire);
      } else if (type == TypeCode.PROBLEM.code()) {
        tally.add(ControlFrames.problem(message, from, to).getCode().name(), 1);
        if (reading == Reading.SETTLE) {
          settled(wire);
        } else {
          again(wire);
        }
      }
    }

    /** Settles each position by itself, many at a time. */
    private void settle(AttackWire wire) {
      List<byte[]> frames = new ArrayList<>();
      for (; open < BURST; open++) {
        frames.add(DurableRequests.settle(1, 1 + settled++ % FILL_EVENTS, true));
      }
      send(wire, frames.stream());
    }

    private void settled(AttackWire wire) {
      if (--open == 0) {
        settle(wire);
      }
    }
  }
}
