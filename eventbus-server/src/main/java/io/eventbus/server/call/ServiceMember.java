package io.eventbus.server.call;

import io.eventbus.server.call.dispatch.CandidateMember;
import io.eventbus.server.call.dispatch.MemberWindow;
import io.eventbus.server.call.dispatch.WaitingLoops;
import io.eventbus.server.stats.SingleWriterCounter;
import org.jspecify.annotations.Nullable;

/**
 * Membership of one connection in one service; or a peer that serves it, by a stream of one loop,
 * which itself grants calls and pauses its members. Confined to the loop that owns the connection;
 * methods for other loops say so.
 *
 * <p>It is one class because its window, its latency and its place in the service change together.
 */
public final class ServiceMember implements CandidateMember {
  /** Cost of waking another loop; measured, ADR 16. */
  private static final double OTHER_LOOP_NANOS = 30_000;

  /** Cost of sending a call on for both buses, in addition to what its answer shows. */
  private static final double OTHER_BUS_NANOS = 100_000;

  /** Cost of a call to a bus that drains its clients: more than any member takes. */
  private static final double DRAINING_NANOS = 1e12;

  private final MemberConnection client;
  private final LocalService service;
  private final long registration;
  private final boolean peer;
  private final MemberWindow window;
  private final MemberLatency latency = new MemberLatency();
  private final WaitingLoops waiting;
  // Written by its loop.
  private volatile boolean gone;
  private volatile int concurrency;
  private volatile boolean everPinned;
  // State of a peer: it drains its clients; it has places.
  private boolean draining;
  private boolean open;
  private final SingleWriterCounter completions = new SingleWriterCounter();
  // Calls of the client; a place may be acquired before, by a call on its way to it.
  private final SingleWriterCounter unanswered = new SingleWriterCounter();
  private TimerWheel.@Nullable Entry pauseEnd;

  ServiceMember(
      MemberConnection client,
      LocalService service,
      long registration,
      int concurrency,
      boolean peer,
      int loops,
      long nowNanos) {
    this.peer = peer;
    this.client = client;
    this.service = service;
    this.registration = registration;
    this.concurrency = concurrency;
    this.window = new MemberWindow(peer ? 0 : concurrency, nowNanos);
    this.waiting = new WaitingLoops(loops);
  }

  /**
   * Changes the concurrency of the client.
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
    service.raiseMaxWindow(window.limit());
    if (serves != served) {
      LocalService.Loss loss = service.serves(serves ? 1 : -1, this, client.calls().now());
      if (!serves) {
        lost(loss);
      }
    }
    client.calls().dispatcher().offer(this);
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

  /** Stops new calls; {@link #leave} follows, perhaps in a later turn. */
  void stop() {
    gone = true;
    window.close();
    TimerWheel.Entry end = pauseEnd;
    if (end != null) {
      client.calls().deadlines().disarm(end);
    }
    if (peer) {
      open(false);
      client.calls().services().setPeer(this, false);
    }
  }

  /** Leaves the service; called by its connection. */
  void leave() {
    if (peer) {
      lost(service.serves(-1, this, client.calls().now()));
    } else {
      lost(service.remove(this, concurrency > 0, client.calls().now()));
    }
    client.calls().directory().leave(service);
  }

  /** Handles the loss of the service with this member. */
  private void lost(LocalService.Loss loss) {
    LoopCalls calls = client.calls();
    calls.notifyMemberGone(this);
    if (loss != LocalService.Loss.NONE) {
      client.end().chargeWork(calls.unserved(service));
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
   * Sets the number of calls that a peer may have; for a member of {@link MemberConnection#serve}.
   *
   * @param calls at least 0; 0 also while it cannot be sent any
   */
  public void grant(int calls) {
    client.calls().checkLoop();
    open(calls > 0 && !gone);
    window.grant(calls);
    client.calls().dispatcher().offer(this);
  }

  private void open(boolean has) {
    if (has != open) {
      open = has;
      service.openPeers(has, client.calls().now());
    }
  }

  /**
   * Sets whether a peer drains its clients: then it gets a call only if no other member has a free
   * place.
   */
  public void draining(boolean drains) {
    client.calls().checkLoop();
    draining = drains;
  }

  @Override
  public boolean isPeer() {
    return peer;
  }

  /** Announces to a peer how many calls wait for places. */
  void announceDemand(int queued) {
    client.end().announceDemand(registration, queued);
  }

  /**
   * Returns the number of calls that the client was given and has not answered, including cancelled
   * ones. Any thread, perhaps a moment old.
   */
  public int unanswered() {
    return (int) unanswered.get();
  }

  /** Records that the client was given a call. */
  void began(long nowNanos) {
    latency.began(unanswered.get() == 0, nowNanos);
    unanswered.add(1);
  }

  /** Records that the client has answered, or was lost with the call. */
  void ended() {
    unanswered.add(-1);
  }

  /** Records a good answer of the client, perhaps too late. */
  void succeeded(Call call, long nowNanos) {
    latency.answered(nowNanos - call.invokedNanos(), nowNanos);
    if (!call.isMemberBlamed()) {
      window.succeeded();
    }
    completed(nowNanos);
  }

  /** Records a bad answer of the client. */
  void failed(long nowNanos) {
    latency.failed(nowNanos);
    fault(nowNanos);
    completed(nowNanos);
  }

  private void completed(long nowNanos) {
    completions.add(1);
    if (peer) {
      return;
    }
    window.completed(nowNanos);
    service.raiseMaxWindow(window.limit());
  }

  /**
   * Records that the client has let the caller's time pass. That is its fault only if it took much
   * longer than its mean: a caller may ask for any timeout.
   */
  void timedOut(Call call, long nowNanos) {
    if (peer) {
      return;
    }
    long nanos = nowNanos - call.invokedNanos();
    if (nanos >= Math.max(MemberLatency.FAILURE_NANOS, 4 * latency.mean(0, nowNanos))) {
      call.blameMember();
      fault(nowNanos);
    }
  }

  private void fault(long nowNanos) {
    if (peer || !window.failed()) {
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

  /** Resumes after failures. */
  void resume() {
    TimerWheel.Entry end = pauseEnd;
    if (end != null) {
      client.calls().deadlines().disarm(end);
    }
    window.resume();
    client.calls().dispatcher().offer(this);
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

  @Override
  public LocalService service() {
    return service;
  }

  /** Returns the registration for {@link MemberInvocation#registration}. */
  public long registration() {
    return registration;
  }

  /** Returns the member's number; any thread. */
  long number() {
    return client.number();
  }

  /** Returns the number of its loop; any thread. */
  int loop() {
    return client.calls().number();
  }

  @Override
  public MemberWindow window() {
    return window;
  }

  @Override
  public boolean isGone() {
    return gone;
  }

  @Override
  public boolean serves() {
    return concurrency > 0 && !gone;
  }

  @Override
  public WaitingLoops waiting() {
    return waiting;
  }

  @Override
  public void pinned() {
    everPinned = true;
  }

  boolean wasPinned() {
    return everPinned;
  }

  @Override
  public double cost(int fromLoop, long nowNanos) {
    int limit = Math.max(1, window.limit());
    int outstanding = window.outstanding();
    double load = (outstanding + 1) / (double) limit;
    return load * latency.peak(unanswered(), nowNanos)
        + (fromLoop == loop() ? 0 : OTHER_LOOP_NANOS)
        + (draining ? DRAINING_NANOS : 0);
  }

  @Override
  public double expected(int fromLoop, double unknown, long nowNanos) {
    double one = (double) latency.peak(unanswered(), nowNanos);
    if (peer) {
      // An idle member has not become faster.
      one = Math.max(one, (double) latency.mean(unanswered(), nowNanos));
      one = (one == 0 ? unknown : one) + OTHER_BUS_NANOS;
      one += draining ? DRAINING_NANOS : 0;
    } else if (fromLoop != loop()) {
      one += OTHER_LOOP_NANOS;
    }
    int atOnce = Math.max(1, peer ? window.limit() : concurrency);
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
