package io.eventbus.link;

import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Calls of one link that wait for an answer, bounded in count and bytes. Any thread. */
// Write failures close the channel; futures are ignored on purpose.
@SuppressWarnings("FutureReturnValueIgnored")
final class PendingRequests {
  /**
   * Pending call; its answer is completed once.
   *
   * @param parts number of ends before its bytes stop counting: the wait for the answer, and the
   *     way to the socket
   */
  record Call(long id, int bytes, CompletableFuture<byte[]> answer, AtomicInteger parts) {}

  private final ConcurrentHashMap<Long, Call> calls = new ConcurrentHashMap<>();
  private final AtomicLong lastId = new AtomicLong();
  private final AtomicLong bytes = new AtomicLong();
  private final int maxCalls;
  private final long maxBytes;
  private volatile @Nullable LinkException ended;

  PendingRequests(int maxCalls, long maxBytes) {
    this.maxCalls = maxCalls;
    this.maxBytes = maxBytes;
  }

  /**
   * Adds a call; returns null if there are too many. A call on a link that has ended fails at once.
   */
  @Nullable Call begin(int size) {
    if (calls.size() >= maxCalls || bytes.get() > maxBytes - size) {
      return null;
    }
    Call call =
        new Call(lastId.incrementAndGet(), size, new CompletableFuture<>(), new AtomicInteger(2));
    bytes.addAndGet(size);
    calls.put(call.id(), call);
    LinkException end = ended;
    if (end != null) {
      fail(call, end);
    }
    return call;
  }

  void watch(Call call, EventLoop loop, Duration deadline, String bus) {
    if (call.answer().isDone()) {
      return;
    }
    Future<?> timer =
        loop.schedule(
            () ->
                fail(
                    call,
                    new LinkException(
                        "no answer of bus " + bus + " within " + deadline, null, true)),
            deadline.toNanos(),
            TimeUnit.NANOSECONDS);
    call.answer().whenComplete((answer, error) -> timer.cancel(false));
  }

  void succeed(long id, byte[] answer) {
    Call call = calls.remove(id);
    if (call != null) {
      end(call);
      call.answer().complete(answer);
    }
  }

  void fail(long id, Throwable error) {
    Call call = calls.get(id);
    if (call != null) {
      fail(call, error);
    }
  }

  void fail(Call call, Throwable error) {
    if (calls.remove(call.id(), call)) {
      end(call);
      call.answer().completeExceptionally(error);
    }
  }

  /** Releases the bytes of a call that have left, or never will; once for each call. */
  void release(Call call) {
    end(call);
  }

  private void end(Call call) {
    if (call.parts().decrementAndGet() == 0) {
      bytes.addAndGet(-call.bytes());
    }
  }

  void failAll(LinkException error) {
    ended = error;
    calls.values().forEach(call -> fail(call, error));
  }

  String describe() {
    return calls.size()
        + ", "
        + bytes.get()
        + " bytes (expected: at most "
        + maxCalls
        + ", "
        + maxBytes
        + " bytes)";
  }
}
