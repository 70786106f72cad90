package io.eventbus.client.internal.call;

import io.eventbus.client.ErrorCode;
import io.eventbus.client.EventBusException;
import io.eventbus.client.EventBusException.CallFailed;
import io.eventbus.client.Execution;
import io.eventbus.schema.FailureCode;
import java.io.ByteArrayOutputStream;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Messages of a tunnel, put together from their parts, for one subscriber: as {@link Flow} and the
 * Reactive Streams specification 1.0.4 have it.
 */
final class TunnelMessages implements Flow.Publisher<byte[]>, Flow.Subscription, Runnable {
  /** Number of messages that a task delivers in a row. */
  private static final int MAX_MESSAGES_PER_RUN = 64;

  private final OpenTunnel tunnel;
  private final TunnelInput input;
  private final AtomicBoolean subscribed = new AtomicBoolean();
  private final AtomicInteger pending = new AtomicInteger();
  private final AtomicLong demand = new AtomicLong();
  private Flow.@Nullable Subscriber<? super byte[]> target;
  private volatile boolean begun;
  private volatile boolean cancelled;
  private volatile @Nullable Throwable wrong;
  // Confined to the one run at a time.
  private @Nullable ByteArrayOutputStream open;
  private boolean terminated;

  TunnelMessages(OpenTunnel tunnel) {
    this.tunnel = tunnel;
    this.input = tunnel.input();
  }

  @Override
  public void subscribe(Flow.Subscriber<? super byte[]> subscriber) {
    java.util.Objects.requireNonNull(subscriber, "subscriber");
    if (!subscribed.compareAndSet(false, true)) {
      subscriber.onSubscribe(NOTHING);
      subscriber.onError(new IllegalStateException("a second subscriber (expected: one)"));
      return;
    }
    target = subscriber;
    subscriber.onSubscribe(this);
    begun = true;
    input.onChange(this::wake);
  }

  static final Flow.Subscription NOTHING =
      new Flow.Subscription() {
        @Override
        public void request(long n) {}

        @Override
        public void cancel() {}
      };

  @Override
  public void request(long n) {
    if (n <= 0) {
      wrong = new IllegalArgumentException("request: " + n + " (expected: >= 1, rule 3.9)");
    } else {
      demand.accumulateAndGet(n, (a, b) -> a + b < 0 ? Long.MAX_VALUE : a + b);
    }
    wake();
  }

  @Override
  public void cancel() {
    cancelled = true;
    input.discard();
    if (!input.hasEnded()) {
      tunnel.close();
    }
  }

  private void wake() {
    if (begun && pending.getAndIncrement() == 0) {
      start();
    }
  }

  private void start() {
    try {
      tunnel.host().handle(this);
    } catch (RuntimeException e) {
      tunnel.host().fail(() -> terminate(new EventBusException.Closed("no thread for it", e)));
    }
  }

  @Override
  public void run() {
    int seen = pending.get();
    do {
      if (deliver()) {
        // Still counted as pending, so that no other run starts.
        start();
        return;
      }
      seen = pending.addAndGet(-seen);
    } while (seen != 0);
  }

  /** Delivers what is here and demanded; returns true if others should have the thread first. */
  private boolean deliver() {
    Throwable refused = wrong;
    if (refused != null && !terminated) {
      tunnel.close();
      terminate(refused);
    }
    int handed = 0;
    while (!cancelled && !terminated && demand.get() > 0) {
      TunnelInput.Part part = input.poll();
      if (part == null) {
        break;
      }
      // Also a part of a message counts as read: else one longer than the window would never come.
      tunnel.onRead(true);
      byte[] message = whole(part);
      if (message != null) {
        if (demand.get() != Long.MAX_VALUE) {
          demand.decrementAndGet();
        }
        hand(message);
        if (++handed == MAX_MESSAGES_PER_RUN) {
          return true;
        }
      }
    }
    EventBusException failure = input.failure();
    if (input.isAtEnd() || failure != null) {
      terminate(failure);
    }
    return false;
  }

  private byte @Nullable [] whole(TunnelInput.Part part) {
    ByteArrayOutputStream before = open;
    if (before == null && !part.more()) {
      return part.bytes();
    }
    if (before == null) {
      before = new ByteArrayOutputStream();
      open = before;
    }
    if (before.size() + (long) part.bytes().length > tunnel.options().messageBytes()) {
      String problem =
          "a message is longer than the receiver puts together (expected: at most "
              + tunnel.options().messageBytes()
              + " bytes, messageBytes)";
      EventBusException why =
          new CallFailed.NotServed(ErrorCode.TOO_BIG, problem, Execution.YES, false);
      tunnel.end(why, CallFailures.of(FailureCode.TOO_BIG, problem, Execution.YES));
      terminate(why);
      return null;
    }
    before.writeBytes(part.bytes());
    if (part.more()) {
      return null;
    }
    open = null;
    return before.toByteArray();
  }

  private void hand(byte[] message) {
    Flow.Subscriber<? super byte[]> to = target;
    if (to == null) {
      return;
    }
    try {
      to.onNext(message);
    } catch (Throwable e) {
      // Rule 2.13: a subscriber that throws is cancelled.
      cancel();
      tunnel
          .host()
          .problem(
              new EventBusException.Closed(
                  "the subscriber of " + tunnel + " has failed: the tunnel is closed", e));
    }
  }

  private void terminate(@Nullable Throwable why) {
    Flow.Subscriber<? super byte[]> to = target;
    if (terminated || cancelled || to == null) {
      return;
    }
    terminated = true;
    if (why == null) {
      to.onComplete();
    } else {
      to.onError(why);
    }
  }
}
