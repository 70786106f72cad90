package io.eventbus.loadtest.driver;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Calls by futures, as an application makes them: one thread makes a request as soon as one of so
 * many places is free, and the end of its future frees the place. Any thread may complete the
 * futures and call {@link #serve}.
 */
public final class CallLoop implements DriverCalls {
  private static final Duration ANSWERS = Duration.ofSeconds(30);
  private static final long POLL_MILLIS = 100;
  private static final int DIGITS = 3;

  private final int payloadBytes;
  private final BlockingQueue<Integer> free;
  private final int places;
  private final long[] numbers;
  private final AtomicLongArray served;
  private final LongAdder called = new LongAdder();
  private final LongAdder answered = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final LongAdder doubled = new LongAdder();
  private final LongAdder foreign = new LongAdder();
  private final Histogram latency = new ConcurrentHistogram(DIGITS);
  private volatile String failure = "";
  private volatile long measuredFrom;
  private volatile boolean measuring;
  private volatile boolean calling;
  private @Nullable Requester requester;
  private @Nullable Thread thread;

  /** The client of a system: one connection that calls. */
  @FunctionalInterface
  public interface Requester {
    /** Makes a request. */
    CompletableFuture<byte[]> request(byte[] payload);
  }

  /**
   * Creates one that does not call yet.
   *
   * @param payloadBytes of each request and each answer, which begins with the number of the place
   *     and of the call in it: at least 12
   */
  public CallLoop(int places, int payloadBytes) {
    this.places = places;
    this.payloadBytes = payloadBytes;
    this.numbers = new long[places];
    this.served = new AtomicLongArray(places);
    this.free = new ArrayBlockingQueue<>(places);
    for (int place = 0; place < places; place++) {
      free.add(place);
    }
  }

  /** Gives it its caller. */
  public CallLoop with(Requester newRequester) {
    requester = newRequester;
    return this;
  }

  /** Answers a request: what the member does. */
  public byte[] serve(byte[] payload) {
    ByteBuffer mark = ByteBuffer.wrap(payload);
    int place = payload.length == payloadBytes ? mark.getInt() : -1;
    if (place < 0 || place >= places) {
      foreign.increment();
    } else {
      long number = mark.getLong();
      if (served.getAndSet(place, number) == number) {
        doubled.increment();
      }
    }
    return payload;
  }

  @Override
  public List<Long> clientPids() {
    return List.of(ProcessHandle.current().pid());
  }

  @Override
  public void start() {
    Requester to = requester;
    if (to == null || thread != null) {
      throw new IllegalStateException("no caller, or calling already");
    }
    calling = true;
    thread = new Thread(() -> call(to), "caller");
    thread.setDaemon(true);
    thread.start();
  }

  private void call(Requester to) {
    try {
      while (calling) {
        Integer place = free.poll(POLL_MILLIS, TimeUnit.MILLISECONDS);
        if (place != null && !calling) {
          free.add(place);
        } else if (place != null) {
          long number = ++numbers[place];
          byte[] payload = new byte[payloadBytes];
          ByteBuffer.wrap(payload).putInt(place).putLong(number);
          called.increment();
          long begin = System.nanoTime();
          var unused =
              request(to, payload)
                  .whenComplete((answer, why) -> ended(payload, place, begin, answer, why));
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static CompletableFuture<byte[]> request(Requester to, byte[] payload) {
    try {
      return to.request(payload);
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private void ended(
      byte[] payload, int place, long begin, byte @Nullable [] answer, @Nullable Throwable why) {
    long now = System.nanoTime();
    if (answer == null) {
      failed.increment();
      if (failure.isEmpty()) {
        failure = String.valueOf(why);
      }
    } else if (!Arrays.equals(answer, payload)) {
      foreign.increment();
    } else {
      answered.increment();
      if (measuring && begin - measuredFrom >= 0) {
        latency.recordValue(now - begin);
      }
    }
    free.add(place);
  }

  @Override
  public void measure() {
    latency.reset();
    measuredFrom = System.nanoTime();
    measuring = true;
  }

  @Override
  public Counts counts() {
    return new Counts(
        called.sum(), answered.sum(), failed.sum(), doubled.sum(), foreign.sum(), failure);
  }

  @Override
  public Histogram stop() {
    calling = false;
    long end = System.nanoTime() + ANSWERS.toNanos();
    try {
      if (thread != null) {
        thread.join();
        thread = null;
      }
      while (free.size() < places) {
        if (System.nanoTime() - end > 0) {
          throw new DriverException(places - free.size() + " calls have not ended");
        }
        Thread.sleep(1);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DriverException("interrupted while waiting for answers", e);
    }
    measuring = false;
    return latency.copy();
  }

  @Override
  public void close() {
    calling = false;
  }
}
