package io.eventbus.loadtest.attack.honest;

import io.eventbus.loadtest.attack.wire.AttackPeer;
import io.eventbus.loadtest.attack.wire.AttackWire;
import io.eventbus.loadtest.attack.wire.ClientFrames;
import io.eventbus.loadtest.attack.wire.DurableRequests;
import io.eventbus.loadtest.attack.wire.Opening;
import io.eventbus.loadtest.attack.wire.Wires;
import io.eventbus.loadtest.run.EventMark;
import io.eventbus.loadtest.run.SequenceCheck;
import io.eventbus.loadtest.run.Ticker;
import io.eventbus.loadtest.run.UniformRate;
import io.eventbus.protocol.DeliverView;
import io.eventbus.protocol.EventCursor;
import io.eventbus.protocol.FeedView;
import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.ConsumeStart;
import io.eventbus.schema.Overflow;
import io.eventbus.schema.Welcome;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A publisher and a subscriber of a topic of their own, or a consumer with a durable subscription
 * where the topic is durable. The publisher sends when an event is due and the socket takes it; an
 * event that waits stays due when it was. Neither connects a second time.
 */
final class Pair {
  /** Bytes that a consumer accepts beyond what it has got. */
  private static final long WINDOW = 1 << 20;

  /** Type and length of a frame, at most. */
  private static final int MAX_HEAD = 8;

  private final int number;
  private final boolean durable;
  private final String topic;
  private final byte[] payload;
  private final int perSecond;
  private final Phases phases;
  private final long origin;
  private final SequenceCheck check = new SequenceCheck(1);
  private final AtomicLong sent = new AtomicLong();
  private final AtomicLong confirmed = new AtomicLong();
  private final AtomicLong foreign = new AtomicLong();
  private final List<String> closed = new CopyOnWriteArrayList<>();
  private final CompletableFuture<AttackWire> ready = new CompletableFuture<>();
  private volatile boolean stopped;

  Pair(int number, boolean durable, int perSecond, int bytes, Phases phases, long origin) {
    this.number = number;
    this.durable = durable;
    this.topic = (durable ? "durable." : "honest.") + number;
    this.payload = new byte[bytes];
    this.perSecond = perSecond;
    this.phases = phases;
    this.origin = origin;
  }

  /** Connects both; the future ends when events can flow. */
  CompletableFuture<AttackWire> connect(Wires wires) {
    Opening opening =
        Opening.client(wires.bus())
            .withHello(ClientFrames.hello(topic.replace('.', '-'), wires.bus().token(), null));
    wires.openHonest(opening, new Receiver(wires, opening));
    return ready;
  }

  boolean isDurable() {
    return durable;
  }

  void start() {
    ready.join().after(0, () -> begin(ready.join()));
  }

  private void begin(AttackWire wire) {
    publisher.rate = new UniformRate(Ticker.SYSTEM, System.nanoTime(), perSecond, 1, 0);
    publisher.due = publisher.rate.next();
    publisher.pump(wire);
  }

  /** Sends no more. */
  void stop() {
    stopped = true;
  }

  private final Publisher publisher = new Publisher();

  boolean complete() {
    return check.highest(0) >= sent.get() && check.missing() == 0;
  }

  PairOutcome outcome() {
    long tail = Math.max(0, sent.get() - check.highest(0));
    return new PairOutcome(
        sent.get(),
        confirmed.get(),
        check.highest(0) - check.missing(),
        check.missing() + tail,
        check.doubled(),
        check.reordered(),
        foreign.get(),
        List.copyOf(closed));
  }

  private final class Publisher implements AttackPeer {
    private UniformRate rate = new UniformRate(Ticker.SYSTEM, 0, 1, 1, 0);
    private long due = Long.MAX_VALUE;
    private boolean scheduled;

    @Override
    public void welcomed(AttackWire wire, Welcome welcome) {
      ready.complete(wire);
    }

    @Override
    public boolean reads() {
      return true;
    }

    @Override
    public void frame(AttackWire wire, int type, ByteBuffer message, int from, int to) {
      if (type == TypeCode.CONFIRM.code()) {
        confirmed.incrementAndGet();
      } else {
        closed.add("publisher got a frame of type " + type);
      }
    }

    @Override
    public void writable(AttackWire wire) {
      if (due != Long.MAX_VALUE) {
        pump(wire);
      }
    }

    private void pump(AttackWire wire) {
      while (!stopped && wire.isWritable() && !scheduled) {
        long left = due - System.nanoTime();
        if (left > 0) {
          scheduled = true;
          wire.afterNanos(
              left,
              () -> {
                scheduled = false;
                pump(wire);
              });
          return;
        }
        long n = sent.incrementAndGet();
        EventMark.write(payload, number, 0, n, due - origin);
        wire.sendMessage(ClientFrames.publish(topic, n, true, 1, payload));
        due = rate.next();
      }
    }

    @Override
    public void closed(AttackWire wire, int code) {
      lost("publisher", code);
    }
  }

  private void lost(String who, int code) {
    closed.add(who + " " + code);
    ready.completeExceptionally(
        new IllegalStateException("an honest " + who + " was closed with " + code));
  }

  private final class Receiver implements AttackPeer {
    private final Wires wires;
    private final Opening opening;
    private final DeliverView deliver = new DeliverView();
    private final FeedView feed = new FeedView();
    private final FrameCursor frames = new FrameCursor();
    private boolean begun;
    private long fed;
    private long granted = WINDOW;

    Receiver(Wires wires, Opening opening) {
      this.wires = wires;
      this.opening = opening;
    }

    @Override
    public void welcomed(AttackWire wire, Welcome welcome) {
      wire.sendMessage(
          durable
              ? DurableRequests.consume(1, topic, "consumer-" + number, ConsumeStart.FIRST, WINDOW)
              : ClientFrames.subscribe(1, topic, Overflow.BLOCK));
    }

    @Override
    public boolean reads() {
      return true;
    }

    @Override
    public void frame(AttackWire wire, int type, ByteBuffer message, int from, int to) {
      if (type == TypeCode.CONFIRM.code()) {
        if (!begun) {
          begun = true;
          wires.openHonest(opening, publisher);
        }
      } else if (type == TypeCode.DELIVER.code()) {
        deliver(message, from, to);
      } else if (type == TypeCode.FEED.code()) {
        feed.read(message, from, to);
        frames.wrap(message, feed.framesStart(), feed.framesEnd());
        while (frames.next()) {
          deliver(message, frames.bodyStart(), frames.bodyEnd());
        }
        fed(wire, to - from + MAX_HEAD);
      } else {
        closed.add("subscriber got a frame of type " + type);
      }
    }

    /** Settles, and grants again what has come. */
    private void fed(AttackWire wire, int bytes) {
      if (feed.to() >= feed.from()) {
        wire.sendMessage(DurableRequests.settle(1, feed.to(), false));
      }
      fed += bytes;
      if (granted - fed < WINDOW / 2) {
        granted = fed + WINDOW;
        wire.sendMessage(DurableRequests.credit(1, granted));
      }
    }

    private void deliver(ByteBuffer message, int from, int to) {
      deliver.read(message, from, to, FrameLimits.DEFAULT);
      EventCursor events = deliver.events();
      while (events.next()) {
        event(message.duplicate().position(events.payloadStart()), System.nanoTime());
      }
    }

    private void event(ByteBuffer event, long now) {
      long first = EventMark.first(event);
      if (EventMark.publisher(first) != number) {
        foreign.incrementAndGet();
        return;
      }
      phases.record(origin + EventMark.due(first), now);
      check.accept(0, EventMark.number(EventMark.second(event)));
    }

    @Override
    public void closed(AttackWire wire, int code) {
      lost("subscriber", code);
    }
  }
}
