package io.eventbus.client.internal.call;

import io.eventbus.client.Answer;
import io.eventbus.client.EventBusException;
import io.eventbus.client.Response;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import java.util.concurrent.Flow;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Publisher of requests to all members of a service, as {@link Flow} (and the Reactive Streams
 * specification 1.0.4) has it: each subscriber makes one request. Any thread may use it.
 */
final class GatherPublisher implements Flow.Publisher<Answer> {
  /** Bytes that an answer takes beside its event. */
  private static final int OVERHEAD = 256;

  private final CallHost host;
  private final int maxBytes;
  private final Function<GatheredAnswers, Runnable> request;

  /**
   * Creates a publisher.
   *
   * @param maxBytes maximum size of the waiting answers to one request
   */
  GatherPublisher(CallHost host, int maxBytes, Function<GatheredAnswers, Runnable> request) {
    this.host = host;
    this.maxBytes = maxBytes;
    this.request = request;
  }

  @Override
  public void subscribe(Flow.Subscriber<? super Answer> subscriber) {
    new Answers(Objects.requireNonNull(subscriber, "subscriber")).begin();
  }

  /**
   * Answers to one request. The subscriber is called by one thread at a time, on the application's
   * executor, and never under the lock.
   */
  private final class Answers implements GatheredAnswers, Flow.Subscription {
    private final Flow.Subscriber<? super Answer> subscriber;

    // Guarded by this object.
    private final Deque<Answer> waiting = new ArrayDeque<>();
    private final Deque<Integer> sizes = new ArrayDeque<>();
    private long waitingBytes;
    private long demand;
    private boolean ended;
    private @Nullable Throwable failure;
    private boolean finished;
    private boolean running;
    private @Nullable Runnable cancel;

    Answers(Flow.Subscriber<? super Answer> subscriber) {
      this.subscriber = subscriber;
    }

    void begin() {
      synchronized (this) {
        // Nothing is delivered before the subscriber knows its subscription.
        running = true;
      }
      try {
        subscriber.onSubscribe(this);
      } catch (RuntimeException | Error e) {
        // Rule 2.13, as below.
        cancel();
        throw e;
      }
      Runnable stop;
      try {
        stop = isFinished() ? () -> {} : request.apply(this);
      } catch (RuntimeException e) {
        // An interceptor may throw anything; the subscriber would wait for ever.
        stop = () -> {};
        end(e);
      }
      boolean cancelled;
      synchronized (this) {
        cancel = stop;
        cancelled = finished;
      }
      if (cancelled) {
        stop.run();
      }
      schedule();
    }

    private synchronized boolean isFinished() {
      return finished;
    }

    @Override
    public void add(Answer answer, int bytes) {
      Runnable stop = null;
      synchronized (this) {
        if (ended || finished) {
          return;
        }
        int size = bytes + OVERHEAD;
        if (waitingBytes + size <= maxBytes) {
          waitingBytes += size;
          waiting.addLast(answer);
          sizes.addLast(size);
        } else {
          ended = true;
          failure =
              new EventBusException.BufferFull(
                  "the answers that wait for the subscriber take "
                      + waitingBytes
                      + " bytes (expected: at most "
                      + maxBytes
                      + ", callBufferBytes)");
          stop = cancel;
        }
      }
      if (stop != null) {
        stop.run();
      }
      wake();
    }

    @Override
    public void addLast(Answer answer) {
      synchronized (this) {
        if (!ended) {
          waiting.addLast(answer);
          sizes.addLast(0);
          ended = true;
        }
      }
      wake();
    }

    @Override
    public void succeed(Response response) {
      addLast(new Answer.Replied(response));
    }

    @Override
    public void fail(EventBusException why) {
      end(why);
    }

    private void end(RuntimeException why) {
      synchronized (this) {
        if (!ended) {
          ended = true;
          failure = why;
        }
      }
      wake();
    }

    @Override
    public void request(long n) {
      synchronized (this) {
        if (n <= 0) {
          ended = true;
          waiting.clear();
          failure = new IllegalArgumentException("request: " + n + " (expected: >= 1, rule 3.9)");
        } else {
          demand = demand + n < 0 ? Long.MAX_VALUE : demand + n;
        }
      }
      wake();
    }

    @Override
    public void cancel() {
      Runnable stop;
      synchronized (this) {
        finished = true;
        waiting.clear();
        sizes.clear();
        stop = cancel;
      }
      if (stop != null) {
        stop.run();
      }
    }

    private void wake() {
      synchronized (this) {
        if (running) {
          return;
        }
        running = true;
      }
      schedule();
    }

    private void schedule() {
      try {
        host.handle(this::run);
      } catch (RuntimeException e) {
        // The executor accepts nothing: the failure is reported beside it.
        synchronized (this) {
          waiting.clear();
          ended = true;
          failure = e;
        }
        host.fail(this::run);
      }
    }

    private void run() {
      while (true) {
        Answer answer;
        Throwable why;
        synchronized (this) {
          boolean gives = demand > 0 && !waiting.isEmpty();
          boolean ends = ended && waiting.isEmpty();
          if (finished || !(gives || ends)) {
            running = false;
            return;
          }
          answer = gives ? waiting.pollFirst() : null;
          why = failure;
          if (answer == null) {
            finished = true;
          } else {
            waitingBytes -= sizes.removeFirst();
            demand -= demand == Long.MAX_VALUE ? 0 : 1;
          }
        }
        tell(answer, why);
      }
    }

    private void tell(@Nullable Answer answer, @Nullable Throwable why) {
      try {
        if (answer != null) {
          subscriber.onNext(answer);
        } else if (why != null) {
          subscriber.onError(why);
        } else {
          subscriber.onComplete();
        }
      } catch (RuntimeException | Error e) {
        // Rule 2.13: a subscriber that throws is cancelled, and the executor sees the exception.
        cancel();
        throw e;
      }
    }
  }
}
