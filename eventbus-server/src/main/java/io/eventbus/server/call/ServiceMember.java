package io.eventbus.server.call;

import io.eventbus.server.stats.SingleWriterCounter;
import org.jspecify.annotations.Nullable;

/**
 * One connection's membership in one service; or another bus that serves it, by a stream of one
 * loop, which says itself how many calls it may have and whom it stops. Confined to the loop that
 * owns the connection; what the package reads from other loops says so.
 *
 * <p>It is one class because its window, its latency and its place in the service change together.
 */
public final class ServiceMember {
  private final MemberConnection client;
  private final LocalService service;
  private final long registration;
  private final boolean far;
  private final MemberWindow window;
  private final MemberLatency latency = new MemberLatency();
  private final WaitingLoops waiting;
  // Written by its loop.
  private volatile boolean gone;
  private volatile int concurrency;
  private volatile boolean everPinned;
  // Of another bus: it sends its clients away, and it has places.
  private boolean draining;
  private boolean open;
  private final SingleWriterCounter completions = new SingleWriterCounter();
  // What the client has; a place may be taken before, by a call that is on its way to it.
  private final SingleWriterCounter unanswered = new SingleWriterCounter();
  private TimerWheel.@Nullable Entry pauseEnd;

  ServiceMember(
      MemberConnection client,
      LocalService service,
      long registration,
      int concurrency,
      boolean far,
      int loops,
      long nowNanos) {
    this.far = far;
    this.client = client;
    this.service = service;
    this.registration = registration;
    this.concurrency = concurrency;
    this.window = new MemberWindow(far ? 0 : concurrency, nowNanos);
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
      LocalService.Loss loss = service.serves(serves ? 1 : -1, this, client.calls().now());
      if (!serves) {
        lost(loss);
      }
    }
    client.calls().places().offer(this);
  }

  /**
   * Leaves the service. From the return of this method on, {@link MemberPort#invoke} is not called
   * for it: {@code Drained} may be sent. Calls that the client has already go on. A second call
   * does nothing.
   */
  public void unregister() {
    client.calls().checkLoop();
    if (!gone) {
      client.remove(this);
      stop();
      leave();
    }
  }

  /** Stops getting calls; {@link #leave} follows, perhaps in a later turn. */
  void stop() {
    gone = true;
    window.close();
    TimerWheel.Entry end = pauseEnd;
    if (end != null) {
      client.calls().deadlines().disarm(end);
    }
    if (far) {
      open(false);
      client.calls().services().far(this, false);
    }
  }

  /** Leaves the service; the connection knows. */
  void leave() {
    if (far) {
      lost(service.serves(-1, this, client.calls().now()));
    } else {
      lost(service.remove(this, concurrency > 0, client.calls().now()));
    }
    client.calls().directory().leave(service);
  }

  /** The service has one member less that takes calls. */
  private void lost(LocalService.Loss loss) {
    LoopCalls calls = client.calls();
    calls.cannotBeCalled(this);
    if (loss != LocalService.Loss.NONE) {
      client.end().caused(calls.unserved(service));
    }
    if (loss == LocalService.Loss.NONE && service.mustResume()) {
      for (ServiceMember member : service.members()) {
        if (member.window.isPaused()) {
          calls.resume(member);
        }
      }
    }
  }

  /**
   * Says how many calls another bus may have; for a member of {@link MemberConnection#serve}.
   *
   * @param calls at least 0; 0 also while it cannot be sent any
   */
  public void grant(int calls) {
    client.calls().checkLoop();
    open(calls > 0 && !gone);
    window.grant(calls);
    client.calls().places().offer(this);
  }

  private void open(boolean has) {
    if (has != open) {
      open = has;
      service.openElsewhere(has, client.calls().now());
    }
  }

  /**
   * Says whether another bus sends its clients away: then it gets a call only where no other member
   * has a free place.
   */
  public void draining(boolean drains) {
    client.calls().checkLoop();
    draining = drains;
  }

  /** Whether it is another bus. */
  boolean isFar() {
    return far;
  }

  /** Tells another bus that so many calls wait for places. */
  void want(int queued) {
    client.end().want(registration, queued);
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
    if (far) {
      return;
    }
    window.completed(nowNanos);
    service.widened(window.limit());
  }

  /**
   * The client has let the caller's time pass. That is its fault only if it took much longer than
   * it takes as a rule: a caller may ask for any time.
   */
  void timedOut(Call call, long nowNanos) {
    if (far) {
      return;
    }
    long nanos = nowNanos - call.invokedNanos();
    if (nanos >= Math.max(MemberLatency.FAILURE_NANOS, 4 * latency.mean(0, nowNanos))) {
      call.isFault();
      fault(nowNanos);
    }
  }

  private void fault(long nowNanos) {
    if (far || !window.failed()) {
      return;
    }
    long pause = service.pause(window);
    if (pause > 0) {
      TimerWheel.Entry end = pauseEnd;
      if (end == null) {
        end = new PauseEnd();
        pauseEnd = end;
      }
      client.calls().deadlines().arm(end, nowNanos + pause, nowNanos);
    }
  }

  /** Goes on after failures. */
  void resume() {
    TimerWheel.Entry end = pauseEnd;
    if (end != null) {
      client.calls().deadlines().disarm(end);
    }
    window.resume();
    client.calls().places().offer(this);
  }

  private final class PauseEnd extends TimerWheel.Entry {
    @Override
    TimerWheel.Dues dues() {
      return client.dues();
    }

    @Override
    void due(long nowNanos) {
      resume();
    }
  }

  MemberConnection client() {
    return client;
  }

  LocalService service() {
    return service;
  }

  /** Returns what {@link MemberInvocation#registration} returns for it. */
  public long registration() {
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
        + (fromLoop == loop() ? 0 : MemberSelector.OTHER_LOOP_NANOS)
        + (draining ? MemberSelector.DRAINING_NANOS : 0);
  }

  /**
   * How long a further call can be expected to take, in nanoseconds; for the choice between this
   * bus and others.
   */
  double expected(int fromLoop, double unknown, long nowNanos) {
    double one = (double) latency.peak(unanswered(), nowNanos);
    if (far) {
      // What is idle has not become faster.
      one = Math.max(one, (double) latency.mean(unanswered(), nowNanos));
      one = (one == 0 ? unknown : one) + MemberSelector.OTHER_BUS_NANOS;
      one += draining ? MemberSelector.DRAINING_NANOS : 0;
    } else if (fromLoop != loop()) {
      one += MemberSelector.OTHER_LOOP_NANOS;
    }
    int atOnce = Math.max(1, far ? window.limit() : concurrency);
    return one * Math.max(1, (window.outstanding() + 1) / (double) atOnce);
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
