package io.eventbus.server.internal;

import io.eventbus.base.RefusedMemory;
import io.eventbus.protocol.EncodedHeaders;
import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.Frames;
import io.eventbus.protocol.PublishView;
import io.eventbus.server.memory.HeapBytes;
import io.eventbus.server.routing.Router;
import io.eventbus.server.subscription.SubscriptionIndex;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/**
 * Publisher of events of the bus itself. They are routed on one loop as those of its clients are,
 * with a producer number of their own, so that groups, overflow policies and peers treat them
 * alike.
 *
 * <p>It never waits: an event for which a subscriber or the way to a peer has no room is dropped
 * and counted, and so is one that finds too much waiting for the loop. Dropped events take no
 * sequence number: other counters tell that something is missing.
 */
public final class InternalClient {
  /** Maximum of bytes that wait for the loop. */
  private static final int MAX_WAITING_BYTES = 1 << 20;

  /** Bytes of a topic besides its name: its entry and its sequence number. */
  private static final int TOPIC_BYTES = 80;

  /** Cost of a waiting event beside its payload. */
  private static final int OVERHEAD_BYTES = 128;

  private final Executor loop;
  private final Router router;
  private final LongSupplier producers;
  private final Clock clock;
  private final LongAdder dropped;
  private final long topicBytes;
  // Always the same object: it is listed once among those that wait for a subscriber.
  private final Runnable noRetry = InternalClient::doNotRetry;
  private final AtomicInteger waitingBytes = new AtomicInteger();

  // On the loop:
  private final Map<SubscriptionIndex, Own> ofAccounts = new WeakHashMap<>();
  private final FrameCursor frames = new FrameCursor();
  private final PublishView publish = new PublishView();

  /**
   * Producer of one account, as long as the account exists: an account that returns has another
   * producer, so that its numbers may begin anew.
   */
  private static final class Own {
    final long producer;
    // The one that was published longest ago first.
    final Map<String, Long> sequences = new LinkedHashMap<>(16, 0.75f, true);
    long bytes;
    // Set if the number of events of an unknown topic may have been greater than 0.
    boolean forgets;

    Own(long producer) {
      this.producer = producer;
    }

    void put(String topic, long sequence, long maxBytes) {
      if (sequences.put(topic, sequence) == null) {
        bytes += TOPIC_BYTES + HeapBytes.ofString(topic);
        keepOnly(maxBytes);
      }
    }

    /** Forgets the topics that were published longest ago, but for one. */
    void keepOnly(long maxBytes) {
      Iterator<String> eldest = sequences.keySet().iterator();
      while (bytes > maxBytes && sequences.size() > 1) {
        bytes -= TOPIC_BYTES + HeapBytes.ofString(eldest.next());
        eldest.remove();
        forgets = true;
      }
    }
  }

  /**
   * Creates a client.
   *
   * @param dropped counts events that were not published
   * @param topicBytes heap for the topics and sequence numbers of all accounts; each account has
   *     the same part of it
   */
  public InternalClient(
      Executor loop,
      Router router,
      LongSupplier producers,
      Clock clock,
      LongAdder dropped,
      long topicBytes) {
    this.topicBytes = topicBytes;
    this.loop = loop;
    this.router = router;
    this.producers = producers;
    this.clock = clock;
    this.dropped = dropped;
  }

  /**
   * Publishes an event, or drops it if it would have to wait. Any thread; returns at once. Events
   * of one topic that one thread publishes keep their order.
   *
   * @param topic a legal topic, also of the system. The latest sequence numbers of the account are
   *     kept, as many as there is room for; of one that comes again later subscribers see that
   *     events may be missing
   * @param payload not changed afterwards
   */
  public void publish(SubscriptionIndex account, String topic, byte[] payload) {
    int bytes = payload.length + OVERHEAD_BYTES;
    if (waitingBytes.addAndGet(bytes) > MAX_WAITING_BYTES) {
      waitingBytes.addAndGet(-bytes);
      dropped.increment();
      return;
    }
    try {
      loop.execute(
          () -> {
            waitingBytes.addAndGet(-bytes);
            if (!publishHere(account, topic, payload)) {
              dropped.increment();
            }
          });
    } catch (RejectedExecutionException e) {
      // The bus has ended.
      dropped.increment();
    }
  }

  private boolean publishHere(SubscriptionIndex account, String topic, byte[] payload) {
    Own own = ofAccounts.get(account);
    if (own == null) {
      own = begin(account);
    }
    long now = Frames.micros(clock.instant());
    // There are never as many events as microseconds: subscribers see a hole, and nothing twice.
    long sequence = own.sequences.getOrDefault(topic, own.forgets ? now : 0L) + 1;
    ByteBuffer in = frame(topic, sequence, now, payload);
    frames.wrap(in, 0, in.limit());
    if (!frames.next()) {
      throw new IllegalStateException("a frame that was just written is not whole");
    }
    publish.read(in, frames.bodyStart(), frames.bodyEnd(), FrameLimits.UNLIMITED);
    String problem = router.selectAny(account, in, publish);
    if (problem != null) {
      throw new IllegalArgumentException(problem);
    }
    if (router.ownMustWait(own.producer, noRetry)) {
      return false;
    }
    // First: part of the subscribers may get it if memory is refused to others.
    own.put(topic, sequence, topicBytes / Math.max(1, ofAccounts.size()));
    try {
      router.deliver(in, publish, own.producer, now, System.nanoTime());
      return true;
    } catch (OutOfMemoryError e) {
      RefusedMemory.rethrowOthers(e);
      return false;
    }
  }

  private Own begin(SubscriptionIndex account) {
    Own own = new Own(producers.getAsLong());
    ofAccounts.put(account, own);
    // The others have less from now on.
    long part = topicBytes / ofAccounts.size();
    ofAccounts.values().forEach(other -> other.keepOnly(part));
    return own;
  }

  private static void doNotRetry() {
    // Waiting events were dropped.
  }

  private static ByteBuffer frame(String topic, long sequence, long now, byte[] payload) {
    byte[] topicBytes = topic.getBytes(StandardCharsets.UTF_8);
    int size = Frames.eventSize(now, -1, EncodedHeaders.NONE.size(), payload.length);
    ByteBuffer event = ByteBuffer.allocate(size);
    Frames.writeEvent(event, now, null, EncodedHeaders.NONE, payload);
    ByteBuffer frame =
        ByteBuffer.allocate(Frames.publishSize(topicBytes.length, sequence, 0, 1, size));
    Frames.writePublish(frame, topicBytes, sequence, 0, false, 1, event.flip());
    return frame.flip();
  }
}
