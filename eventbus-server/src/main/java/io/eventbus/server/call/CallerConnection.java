package io.eventbus.server.call;

import io.eventbus.schema.Execution;
import io.eventbus.schema.FailureCode;
import io.eventbus.server.routing.Delivery;
import io.eventbus.server.routing.NumberMap;
import io.eventbus.server.routing.ServiceShare;
import io.eventbus.server.stats.CallStats;
import org.jspecify.annotations.Nullable;

/**
 * A connection that calls services: made with its first request, by {@link LoopCalls#caller}.
 * Confined to the loop that owns the connection.
 */
public final class CallerConnection {
  private final LoopCalls calls;
  private CallerPort end;
  private final CallerInfo info;
  private final FairnessGroup share;
  private final ServiceShare held;
  private final int most;
  private final CallStats stats;
  private final String tooMany;
  // Those that have not ended, by the caller's numbers.
  private final NumberMap<Call> open = new NumberMap<>();
  // open.size() <= inFlight: the others are with members still.
  private int inFlight;
  private boolean closed;
  // Made when the first is due.
  private TimerWheel.@Nullable Dues dues;
  // What members are told in place of each number; 0 for the number itself.
  private final long request;

  CallerConnection(
      LoopCalls calls,
      CallerPort end,
      CallerInfo info,
      FairnessGroup share,
      ServiceShare held,
      int most,
      CallStats stats) {
    this(calls, end, info, share, held, most, stats, 0);
  }

  /**
   * Makes one for the calls that one request consists of.
   *
   * @param most how many may be in flight
   * @param stats where they are counted
   * @param request the number of the request, which members are told; 0 for the number of each
   */
  CallerConnection(
      LoopCalls calls,
      CallerPort end,
      CallerInfo info,
      FairnessGroup share,
      ServiceShare held,
      int most,
      CallStats stats,
      long request) {
    this.held = held;
    this.stats = stats;
    this.calls = calls;
    this.end = end;
    this.info = info;
    this.share = share;
    this.most = most;
    this.request = request;
    this.tooMany =
        "too many calls of the connection are in flight (expected: at most "
            + most
            + ", limits.calls)";
  }

  /**
   * Takes a call. It ends with one method of the {@link CallerPort}, perhaps before this returns:
   * one that cannot be served fails at once.
   *
   * @param request what is asked for; not needed afterwards
   * @return false if a call with this number has not ended yet, or the connection has; then nothing
   *     was done
   */
  public boolean begin(CallRequest request) {
    calls.checkLoop();
    if (closed || open.containsKey(request.call)) {
      return false;
    }
    Delivery body = request.body;
    if (body == null) {
      throw new IllegalArgumentException("body: null (expected: method and event)");
    }
    stats.requests.add(1);
    if (inFlight >= most) {
      refuse(request, FailureCode.OVERLOADED, tooMany);
      return true;
    }
    if (calls.isShortOfMemory(held)) {
      refuse(request, FailureCode.OVERLOADED, FailureMessages.MEMORY);
      return true;
    }
    // The parts of a request to all members share its body.
    int bodyBytes = this.request == 0 ? body.size() : 0;
    int serviceBytes =
        request.waitMillis > 0 ? CallHeap.ofWaitingService(request.serviceLength) : 0;
    String full = held.acquire(CallHeap.CALL + serviceBytes + bodyBytes, bodyBytes);
    if (full != null) {
      refuse(request, FailureCode.OVERLOADED, full);
      return true;
    }
    long now = calls.now();
    boolean home = request.far || request.tunnel != null;
    LoopService service =
        calls
            .services()
            .find(
                caller(request).account(),
                request.service,
                request.serviceStart,
                request.serviceLength,
                request.waitMillis > 0,
                home,
                now);
    if (service == null) {
      held.release(CallHeap.CALL + serviceBytes + bodyBytes, bodyBytes);
      refuse(request, FailureCode.NO_MEMBER, FailureMessages.NO_MEMBER);
      return true;
    }
    if (!service.service.isServed(home) && held.isHalfUsed()) {
      held.release(CallHeap.CALL + serviceBytes + bodyBytes, bodyBytes);
      calls.services().forgetIdle(service);
      refuse(request, FailureCode.OVERLOADED, FailureMessages.NO_ROOM_TO_WAIT);
      return true;
    }
    service.retries.onRequest(now);
    Call call = calls.take();
    call.begin(this, service, request, body, now);
    call.holds(serviceBytes, bodyBytes);
    if (call.isServed()) {
      call.keepsNoService();
    }
    open.put(request.call, call);
    inFlight++;
    stats.inFlight.add(1);
    calls.deadlines().arm(call, call.deadlineNanos(), now);
    calls.places().begin(call, now);
    return true;
  }

  private CallerInfo caller(CallRequest request) {
    CallerInfo other = request.caller;
    return other == null ? info : other;
  }

  private void refuse(CallRequest request, FailureCode code, String text) {
    stats.failures(code).add(1);
    end.failure(request.call, 0, code, Execution.NO, 0, text);
  }

  /**
   * Ends a call with {@code CANCELLED} and tells its member. One that has ended already, or was
   * never begun, is ignored.
   *
   * <p>A call that a member has counts as one of the connection's until the member answers.
   *
   * @param reason for the member's people, at most as long as the caller may make it
   */
  public void cancel(long call, String reason) {
    calls.checkLoop();
    Call found = open.get(call);
    if (found != null) {
      calls.endings().cancel(found, reason, calls.now());
    }
  }

  /** Says whether a call is in flight. */
  public boolean has(long call) {
    return open.containsKey(call);
  }

  /**
   * Returns how many calls count towards the bound of the connection.
   *
   * @return those that have not ended, and those that ended while a member has them still
   */
  public int inFlight() {
    return inFlight;
  }

  /**
   * The connection has ended: the {@link CallerPort} is not called again, and no member gets a call
   * any more. What waits is given up, and members are told that nobody waits for their answers: now
   * or, where there is much of it, in later turns. A second call does nothing.
   */
  public void close() {
    close(FailureMessages.CALLER_GONE, new ClosedEnd());
  }

  /** As {@link #close()}. */
  void close(String reason, ClosedEnd rest) {
    calls.checkLoop();
    if (closed) {
      return;
    }
    closed = true;
    end = rest;
    if (open.isEmpty()) {
      calls.leaveShare(share);
    } else {
      calls.slices().add(new Remains(reason));
    }
  }

  /** The calls of a connection that has ended, some of which may have ended meanwhile. */
  private final class Remains implements Slices.Work {
    private final long[] numbers;
    private final String reason;
    private int next;

    Remains(String reason) {
      this.numbers = open.values().stream().mapToLong(Call::key).toArray();
      this.reason = reason;
    }

    @Override
    public boolean step(long nowNanos) {
      if (next < numbers.length) {
        Call call = open.get(numbers[next++]);
        if (call != null) {
          calls.endings().cancel(call, reason, nowNanos);
        }
      }
      if (next < numbers.length) {
        return true;
      }
      calls.leaveShare(share);
      return false;
    }

    @Override
    public void took(long nanos) {
      end.caused(nanos);
    }
  }

  /** The caller has nothing more to expect of a call. */
  void ended(Call call) {
    open.remove(call.key());
  }

  /** A call has gone altogether. */
  void left() {
    inFlight--;
    end.left();
  }

  /** Where its calls wait that are due. */
  TimerWheel.Dues dues() {
    TimerWheel.Dues made = dues;
    if (made == null) {
      made = new TimerWheel.Dues(calls.deadlines(), nanos -> end.caused(nanos));
      dues = made;
    }
    return made;
  }

  boolean isClosed() {
    return closed;
  }

  CallerPort end() {
    return end;
  }

  /** The number that members are told of a call; any thread. */
  long shown(long key) {
    return request == 0 ? key : request;
  }

  /** Any thread. */
  CallerInfo info() {
    return info;
  }

  FairnessGroup share() {
    return share;
  }

  /** Returns the share from which everything that is held for the connection is taken. */
  ServiceShare held() {
    return held;
  }

  CallStats stats() {
    return stats;
  }
}
