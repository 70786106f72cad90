package io.eventbus.server.call;

import io.eventbus.schema.Execution;
import io.eventbus.schema.FailureCode;
import io.eventbus.server.call.dispatch.FairnessGroup;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.memory.NumberMap;
import io.eventbus.server.memory.ServiceShare;
import io.eventbus.server.stats.CallStats;
import org.jspecify.annotations.Nullable;

/**
 * Connection that makes calls, created with its first request by {@link LoopCalls#caller}. Confined
 * to the loop that owns the connection.
 */
public final class CallerConnection {
  private final LoopCalls calls;
  private CallerPort end;
  private final CallerInfo info;
  private final FairnessGroup group;
  private final ServiceShare held;
  private final int maxInFlight;
  private final CallStats stats;
  private final String tooMany;
  // Calls that have not ended, by the caller's numbers.
  private final NumberMap<Call> open = new NumberMap<>();
  // open.size() <= inFlight: members still have the others.
  private int inFlight;
  private boolean closed;
  // Allocated when the first is due.
  private TimerWheel.@Nullable Dues dues;
  // Number that members get in place of each call's; 0 for the call's own.
  private final long request;

  CallerConnection(
      LoopCalls calls,
      CallerPort end,
      CallerInfo info,
      FairnessGroup group,
      ServiceShare held,
      int maxInFlight,
      CallStats stats) {
    this(calls, end, info, group, held, maxInFlight, stats, 0);
  }

  /**
   * Creates the caller of one request's calls.
   *
   * @param maxInFlight maximum number of calls in flight
   * @param stats counters of the calls
   * @param request number of the request for members; 0 for the number of each call
   */
  CallerConnection(
      LoopCalls calls,
      CallerPort end,
      CallerInfo info,
      FairnessGroup group,
      ServiceShare held,
      int maxInFlight,
      CallStats stats,
      long request) {
    this.held = held;
    this.stats = stats;
    this.calls = calls;
    this.end = end;
    this.info = info;
    this.group = group;
    this.maxInFlight = maxInFlight;
    this.request = request;
    this.tooMany =
        "too many calls of the connection are in flight (expected: at most "
            + maxInFlight
            + ", limits.calls)";
  }

  /**
   * Starts a call. It ends with exactly one method of the {@link CallerPort}, perhaps before this
   * returns: a call that cannot be served fails at once. Returns false if a call with this number
   * has not ended yet, or the connection has; then nothing was done.
   *
   * @param request not needed afterwards
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
    if (inFlight >= maxInFlight) {
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
    boolean local = request.fromPeer || request.tunnel != null;
    LoopService service =
        calls
            .services()
            .find(
                caller(request).account(),
                request.service,
                request.serviceStart,
                request.serviceLength,
                request.waitMillis > 0,
                local,
                now);
    if (service == null) {
      held.release(CallHeap.CALL + serviceBytes + bodyBytes, bodyBytes);
      refuse(request, FailureCode.NO_MEMBER, FailureMessages.NO_MEMBER);
      return true;
    }
    if (!service.service.isServed(local) && held.isHalfUsed()) {
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
      call.releaseService();
    }
    open.put(request.call, call);
    inFlight++;
    stats.inFlight.add(1);
    calls.deadlines().arm(call, call.deadlineNanos(), now);
    calls.dispatcher().begin(call, now);
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
   * Ends a call with {@code CANCELLED} and notifies its member. An unknown or ended call is
   * ignored.
   *
   * <p>A call that a member has counts as in flight until the member answers.
   *
   * @param reason for the member's operators, at most as long as the caller may make it
   */
  public void cancel(long call, String reason) {
    calls.checkLoop();
    Call found = open.get(call);
    if (found != null) {
      calls.completion().cancel(found, reason, calls.now());
    }
  }

  /** Returns whether a call is in flight. */
  public boolean has(long call) {
    return open.containsKey(call);
  }

  /**
   * Returns the number of calls that count towards the bound of the connection: those that have not
   * ended, and ended ones that a member still has.
   */
  public int inFlight() {
    return inFlight;
  }

  /**
   * Ends all calls with the connection: the {@link CallerPort} is not called again, and no member
   * gets a call any more. Waiting calls are discarded, and members learn that their answers are not
   * needed: now or, if there are many, in later turns. A second call does nothing.
   */
  public void close() {
    close(FailureMessages.CALLER_GONE, new ClosedEnd());
  }

  /** Closes with a reason for members, and a port for the remaining calls. */
  void close(String reason, ClosedEnd rest) {
    calls.checkLoop();
    if (closed) {
      return;
    }
    closed = true;
    end = rest;
    if (open.isEmpty()) {
      calls.leaveGroup(group);
    } else {
      calls.slices().add(new Remains(reason));
    }
  }

  /** Calls of an ended connection; some of them may have ended meanwhile. */
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
          calls.completion().cancel(call, reason, nowNanos);
        }
      }
      if (next < numbers.length) {
        return true;
      }
      calls.leaveGroup(group);
      return false;
    }

    @Override
    public void charge(long nanos) {
      end.chargeWork(nanos);
    }
  }

  /** Removes a call that has ended for the caller. */
  void ended(Call call) {
    open.remove(call.key());
  }

  /** Counts a call that no member has any more. */
  void left() {
    inFlight--;
    end.left();
  }

  /** Returns the list of its due calls. */
  TimerWheel.Dues dues() {
    TimerWheel.Dues created = dues;
    if (created == null) {
      created = new TimerWheel.Dues(calls.deadlines(), nanos -> end.chargeWork(nanos));
      dues = created;
    }
    return created;
  }

  boolean isClosed() {
    return closed;
  }

  CallerPort end() {
    return end;
  }

  /** Returns the number of a call for members; any thread. */
  long shown(long key) {
    return request == 0 ? key : request;
  }

  /** Returns the caller's description; any thread. */
  CallerInfo info() {
    return info;
  }

  FairnessGroup group() {
    return group;
  }

  /** Returns the memory share of the connection. */
  ServiceShare held() {
    return held;
  }

  CallStats stats() {
    return stats;
  }
}
