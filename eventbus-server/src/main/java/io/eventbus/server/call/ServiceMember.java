package io.eventbus.server.call;

import io.eventbus.server.stats.SingleWriterCounter;
import org.jspecify.annotations.Nullable;

/**
 * One connection's membership in one service. Confined to the loop that owns the connection; what
 * the package reads from other loops says so.
 */
public final class ServiceMember {
  private final ServingClient client;
  private final Service service;
  private final long registration;
  private final MemberWindow window;
  private final MemberLatency latency = new MemberLatency();
  private final WaitingLoops waiting;
  // Written by its loop.
  private volatile boolean gone;
  private volatile int concurrency;
  private volatile boolean everPinned;
  private final SingleWriterCounter completions = new SingleWriterCounter();
  // What the client has; a place may be taken before, by a call that is on its way to it.
  private final SingleWriterCounter unanswered = new SingleWriterCounter();
  private Deadlines.@Nullable Entry pauseEnd;

  ServiceMember(
      ServingClient client,
      Service service,
      long registration,
      int concurrency,
      int loops,
      long nowNanos) {
    this.client = client;
    this.service = service;
    this.registration = registration;
    this.concurrency = concurrency;
    this.window = new MemberWindow(concurrency, nowNanos);
    this.waiting = new WaitingLoops(loops);
  }

  /**
   * Changes how many calls the client works on at once.
   *
   * @param calls 0: no new calls until it is changed again
   */
  public void capacity(int calls) {
    client.calls().checkLoop();
    if (gone) {
      return;
    }
    boolean served = concurrency > 0;
    boolean serves = calls > 0;
    concurrency = calls;
    window.capacity(calls);
    service.widened(window.limit());
    if (serves != served) {
      boolean last = service.serves(serves ? 1 : -1);
      if (!serves) {
        lost(last);
      }
    }
    client.calls().places().offer(this);
  }

  /**
   * Leaves the service. From the return of this method on, {@link MemberEnd#invoke} is not called
   * for it: {@code Drained} may be sent. Calls that the client has already go on. A second call
   * does nothing.
   */
  public void unregister() {
    client.calls().checkLoop();
    if (!gone) {
      client.remove(this);
      leave();
    }
  }

  /** Leaves the service; the connection knows. */
  void leave() {
    gone = true;
    window.close();
    Deadlines.Entry end = pauseEnd;
    if (end != null) {
      client.calls().deadlines().disarm(end);
    }
    boolean last = service.remove(this, concurrency > 0);
    lost(last);
    client.calls().directory().leave(service);
  }

  /** The service has one member less that takes calls. */
  private void lost(boolean last) {
    LoopCalls calls = client.calls();
    calls.cannotBeCalled(this);
    if (last) {
      calls.unserved(service);
    } else if (service.mustResume()) {
      for (ServiceMember member : service.members()) {
        if (member.window.isPaused()) {
          calls.resume(member);
        }
      }
    }
  }

  /**
   * Returns how many calls the client has been given and has not answered, cancelled ones included.
   * Any thread, perhaps a moment old.
   *
   * @return at least 0
   */
  public int unanswered() {
    return (int) unanswered.get();
  }

  /** The client has been given a call. */
  void began(long nowNanos) {
    latency.began(unanswered.get() == 0, nowNanos);
    unanswered.add(1);
  }

  /** The client has answered, or has gone with the call. */
  void ended() {
    unanswered.add(-1);
  }

  /** The client has answered as it should, if perhaps too late. */
  void succeeded(Call call, long nowNanos) {
    latency.answered(nowNanos - call.invokedNanos(), nowNanos);
    if (!call.wasFault()) {
      window.succeeded();
    }
    completed(nowNanos);
  }

  /** The client has answered, and did not do what it should. */
  void failed(long nowNanos) {
    latency.failed(nowNanos);
    fault(nowNanos);
    completed(nowNanos);
  }

  private void completed(long nowNanos) {
    completions.add(1);
    window.completed(nowNanos);
    service.widened(window.limit());
  }

  /**
   * The client has let the caller's time pass. That is its fault only if it took much longer than
   * it takes as a rule: a caller may ask for any time.
   */
  void timedOut(Call call, long nowNanos) {
    long nanos = nowNanos - call.invokedNanos();
    if (nanos >= Math.max(MemberLatency.FAILURE_NANOS, 4 * latency.mean(0, nowNanos))) {
      call.isFault();
      fault(nowNanos);
    }
  }

  private void fault(long nowNanos) {
    if (!window.failed()) {
      return;
    }
    long pause = service.pause(window);
    if (pause > 0) {
      Deadlines.Entry end = pauseEnd;
      if (end == null) {
        end = new PauseEnd();
        pauseEnd = end;
      }
      client.calls().deadlines().arm(end, nowNanos + pause, nowNanos);
    }
  }

  /** Goes on after failures. */
  void resume() {
    Deadlines.Entry end = pauseEnd;
    if (end != null) {
      client.calls().deadlines().disarm(end);
    }
    window.resume();
    client.calls().places().offer(this);
  }

  private final class PauseEnd extends Deadlines.Entry {
    @Override
    void due(long nowNanos) {
      resume();
    }
  }

  ServingClient client() {
    return client;
  }

  Service service() {
    return service;
  }

  long registration() {
    return registration;
  }

  /** Any thread. */
  long number() {
    return client.number();
  }

  /** Any thread. */
  int loop() {
    return client.calls().number();
  }

  /** Its places may be taken by any thread. */
  MemberWindow window() {
    return window;
  }

  /** Whether it has left; any thread. */
  boolean isGone() {
    return gone;
  }

  /** Whether it takes calls, perhaps later; any thread. */
  boolean serves() {
    return concurrency > 0 && !gone;
  }

  /** The loops with calls for this member only; any thread. */
  WaitingLoops waiting() {
    return waiting;
  }

  /** A loop has calls for this member only; any thread. */
  void pinned() {
    everPinned = true;
  }

  boolean wasPinned() {
    return everPinned;
  }

  /** What a further call would cost, in nanoseconds; any thread. */
  double cost(int fromLoop, long nowNanos) {
    int limit = Math.max(1, window.limit());
    int outstanding = window.outstanding();
    double load = (outstanding + 1) / (double) limit;
    return load * latency.peak(unanswered(), nowNanos)
        + (fromLoop == loop() ? 0 : Choice.OTHER_LOOP_NANOS);
  }

  /**
   * How many calls it does in a nanosecond while its window is full, by estimate; 0 if that is not
   * known. Any thread.
   */
  double speed(long nowNanos) {
    int limit = window.limit();
    long mean = latency.mean(unanswered(), nowNanos);
    // The window of a new member is small, and will be larger before those who wait are served.
    return limit == 0 || mean == 0 ? 0 : Math.max(limit, concurrency) / (double) mean;
  }

  MemberFigures figures(long nowNanos) {
    int outstanding = window.outstanding();
    return new MemberFigures(
        number(),
        loop(),
        concurrency,
        window.limit(),
        outstanding,
        latency.peak(unanswered(), nowNanos) / 1_000,
        completions.get());
  }
}
