package io.eventbus.server.call;

import io.eventbus.schema.CallPriority;
import io.eventbus.schema.Execution;
import io.eventbus.schema.FailureCode;
import io.eventbus.server.call.dispatch.CandidateMember;
import io.eventbus.server.call.dispatch.FairnessGroup;
import io.eventbus.server.call.dispatch.QueuePlace;
import io.eventbus.server.call.dispatch.QueuedCall;
import io.eventbus.server.call.tunnel.TunnelHalf;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.stats.CallStats;
import org.jspecify.annotations.Nullable;

/**
 * Call from its request to its answer; recycled.
 *
 * <p>It belongs to the loop of its caller. While it is {@link CallState#DISPATCHED} or {@link
 * CallState#ENDED} the member's loop has it as well: that loop reads fields that do not change
 * meanwhile, writes the fields marked so, and returns the call exactly once for each dispatch.
 * Until then the call is not recycled and gets no other member, so that a pointer to it never
 * refers to another call.
 */
final class Call extends TimerWheel.Entry implements MemberInvocation, QueuedCall {
  private final LoopCalls owner;
  private CallState state = CallState.FREE;

  @Nullable CallerConnection client;
  @Nullable LoopService service;
  @Nullable ServiceMember member;
  @Nullable Delivery body;
  // Caller's end of a stream or tunnel.
  private @Nullable TunnelHalf tunnel;
  private CallPriority priority = CallPriority.NORMAL;
  private boolean idempotent;
  private boolean localOnly;
  private boolean returnsToPeer;
  private @Nullable CallerInfo caller;
  private long key;
  private long request;
  private long receivedAt;
  private long schema;
  private int methodLength;
  private long pinned;
  private long begunNanos;
  private long deadlineNanos;
  private long waitNanos;
  private int attempt;
  private int bytes;
  // Bytes charged to its connection's share in addition to its own heap: for a service that
  // has no members, and for its request.
  private int serviceBytes;
  private int bodyBytes;
  private boolean hasLeft;

  /** Number of this dispatch, assigned by the bus. */
  long number;

  /** Number of repetitions at another member although the call was perhaps executed. */
  int retries;

  /** Members and peers that have refused the call. */
  final CallRefusals refusals = new CallRefusals();

  /** Deadline for a member to appear, if there is none. */
  long memberDeadlineNanos;

  /** Start of the wait, if it waits; time in which it was dispatched but not sent counts. */
  long queuedNanos;

  // Allocated when it is needed first: most calls never wait.
  private @Nullable QueuePlace queuePlace;

  // Written by the member's loop.
  private long place;
  private long invokedNanos;
  private boolean fault;
  private boolean cancelled;
  private long answeredBy;
  private long peerMicros;

  Call(LoopCalls owner) {
    this.owner = owner;
  }

  /** Starts a call for a request. */
  void begin(
      CallerConnection from, LoopService of, CallRequest asked, Delivery content, long nowNanos) {
    become(CallState.READY);
    client = from;
    service = of;
    content.retain();
    body = content;
    bytes = content.size();
    priority = asked.priority;
    idempotent = asked.idempotent;
    key = asked.call;
    localOnly = asked.fromPeer || asked.tunnel != null;
    returnsToPeer = asked.fromPeer && asked.returnable;
    caller = asked.fromPeer ? asked.caller : null;
    request = asked.fromPeer ? asked.request : asked.call;
    receivedAt = asked.receivedAt;
    schema = asked.schema;
    tunnel = asked.tunnel;
    methodLength = asked.methodLength;
    pinned = asked.member;
    attempt = asked.attempt;
    begunNanos = nowNanos;
    queuedNanos = nowNanos;
    CallSettings settings = owner.settings();
    long asks = asked.timeoutMillis * 1_000_000L;
    deadlineNanos =
        nowNanos + Math.min(asks == 0 ? settings.timeoutNanos() : asks, settings.maxTimeoutNanos());
    waitNanos = asked.waitMillis * 1_000_000L;
    memberDeadlineNanos = nowNanos + waitNanos;
  }

  /** Sets the bytes charged for it: for the service that it waits for, and for its request. */
  void holds(int ofService, int ofBody) {
    serviceBytes = ofService;
    bodyBytes = ofBody;
  }

  @Override
  public void chargeService() {
    if (serviceBytes == 0) {
      serviceBytes = CallHeap.ofWaitingService(service().key.length());
      client().held().add(serviceBytes);
    }
  }

  /** Releases the bytes charged for the service, which is known because of its members. */
  void releaseService() {
    client().held().release(serviceBytes, 0);
    serviceBytes = 0;
  }

  /** Releases the caller's charge; from now on the member that has the call is charged. */
  void releaseCaller() {
    client().held().release(CallHeap.CALL + serviceBytes + bodyBytes, bodyBytes);
    hasLeft = true;
  }

  /** Clears all fields. */
  void free() {
    become(CallState.FREE);
    if (!hasLeft) {
      releaseCaller();
    }
    hasLeft = false;
    Delivery content = body;
    body = null;
    client = null;
    service = null;
    member = null;
    tunnel = null;
    caller = null;
    refusals.clear();
    retries = 0;
    number = 0;
    if (content != null) {
      content.release();
    }
  }

  void become(CallState next) {
    state = state.to(next);
  }

  CallState state() {
    return state;
  }

  /** Returns what is known of its execution while no member has it. */
  Execution executed() {
    return retries > 0 ? Execution.UNKNOWN : Execution.NO;
  }

  /** Counts a repetition at another member after the first one was lost. */
  void repeat() {
    retries++;
    // The caller chooses the first value: past the largest number peers could not read it.
    attempt = Math.max(attempt, attempt + 1);
  }

  @Override
  TimerWheel.Dues dues() {
    return client().dues();
  }

  @Override
  void due(long nowNanos) {
    owner.completion().due(this, nowNanos);
  }

  boolean isLate(long nowNanos) {
    return deadlineNanos - nowNanos <= 0;
  }

  @Override
  public long deadlineNanos() {
    return deadlineNanos;
  }

  @Override
  public long begunNanos() {
    return begunNanos;
  }

  @Override
  public long waitNanos() {
    return waitNanos;
  }

  LoopCalls owner() {
    return owner;
  }

  /** Returns the counters of the call. */
  CallStats stats() {
    return client().stats();
  }

  /** Returns whether it comes from a peer, or is a stream or tunnel. */
  @Override
  public boolean isLocalOnly() {
    return localOnly;
  }

  @Override
  public boolean isFromPeer() {
    return caller != null;
  }

  @Override
  public boolean returnsToPeer() {
    return returnsToPeer;
  }

  @Override
  public boolean isServed() {
    return service().service.isServed(localOnly);
  }

  @Override
  public boolean isAbandoned() {
    return client().isClosed();
  }

  @Override
  public boolean hasRefused(CandidateMember by) {
    return refusals.has(by);
  }

  @Override
  public QueuePlace queuePlace() {
    QueuePlace created = queuePlace;
    if (created == null) {
      created = new QueuePlace(this);
      queuePlace = created;
    }
    return created;
  }

  @Override
  public long queuedNanos() {
    return queuedNanos;
  }

  @Override
  public void memberDeadline(long atNanos) {
    memberDeadlineNanos = atNanos;
  }

  @Override
  public void armDeadline(long nowNanos) {
    long at = memberDeadlineNanos - deadlineNanos < 0 ? memberDeadlineNanos : deadlineNanos;
    owner.deadlines().arm(this, at, nowNanos);
  }

  @Override
  public LoopService currentService(long nowNanos) {
    LoopService current = owner.services().current(service(), nowNanos);
    service = current;
    return current;
  }

  @Override
  public void waits() {
    become(CallState.QUEUED);
    stats().queued.add(1);
  }

  @Override
  public void waitsNoLonger() {
    stats().queued.add(-1);
  }

  @Override
  public void ready() {
    become(CallState.READY);
  }

  @Override
  public void dispatchTo(CandidateMember chosen, long nowNanos) {
    owner.dispatch(this, (ServiceMember) chosen, nowNanos);
  }

  @Override
  public void failUnserved(long nowNanos) {
    String text = pinned == 0 ? FailureMessages.NO_MEMBER : FailureMessages.NOT_THIS_MEMBER;
    owner.completion().fail(this, FailureCode.NO_MEMBER, 0, text, nowNanos);
  }

  @Override
  public void failOverloaded(long retryAfterMillis, String reason, long nowNanos) {
    stats().shed(priority).add(1);
    owner.completion().fail(this, FailureCode.OVERLOADED, retryAfterMillis, reason, nowNanos);
  }

  @Override
  public void cancelAbandoned(long nowNanos) {
    owner.completion().cancel(this, FailureMessages.CALLER_GONE, nowNanos);
  }

  /** Returns the number by which the caller's connection knows it. */
  long key() {
    return key;
  }

  @Override
  public long pinned() {
    return pinned;
  }

  @Override
  public int bytes() {
    return bytes;
  }

  @Override
  public FairnessGroup group() {
    return client().group();
  }

  CallerConnection client() {
    return there(client);
  }

  @Override
  public LoopService service() {
    return there(service);
  }

  ServiceMember member() {
    return there(member);
  }

  private <T> T there(@Nullable T value) {
    if (value == null) {
      throw new IllegalStateException("call: " + state + " (expected: one that has this)");
    }
    return value;
  }

  /**
   * Called on the member's loop: the call was given to the client after {@code placeInOrder}
   * others.
   */
  void invoked(long placeInOrder, long nowNanos) {
    place = placeInOrder;
    invokedNanos = nowNanos;
    fault = false;
    answeredBy = member().number();
    peerMicros = 0;
    cancelled = false;
  }

  /** Called on the member's loop: the call has ended for its caller, and needs no request. */
  void cancelled() {
    cancelled = true;
    Delivery content = body;
    body = null;
    if (content != null) {
      content.release();
    }
  }

  /** Returns whether it has ended for its caller; on the member's loop. */
  boolean isCancelled() {
    return cancelled;
  }

  /** Called on the member's loop: a member of the peer that had the call has answered. */
  void answered(long by, int queuedMicros) {
    answeredBy = by;
    peerMicros = queuedMicros;
  }

  /** Returns the number of the member that has answered; 0 if only its bus is known. */
  long answeredBy() {
    return answeredBy;
  }

  /** Returns the time in microseconds that it spent at buses before a member had it. */
  int queuedMicros() {
    long micros = (invokedNanos - begunNanos) / 1_000 + peerMicros;
    return (int) Math.min(Integer.MAX_VALUE, micros);
  }

  /** Records that the member is to blame for the caller's timeout; on the member's loop. */
  void blameMember() {
    fault = true;
  }

  /**
   * Returns whether a late answer does not restore the member's reputation; on the member's loop.
   */
  boolean isMemberBlamed() {
    return fault;
  }

  /** Returns how many calls its client was given before; on the member's loop. */
  long place() {
    return place;
  }

  /**
   * Returns when the member got the call; on the member's loop, and on the caller's after the call
   * was returned.
   */
  long invokedNanos() {
    return invokedNanos;
  }

  @Override
  public long call() {
    return number;
  }

  @Override
  public long registration() {
    return member().registration();
  }

  @Override
  public int timeoutMillis() {
    long left = (deadlineNanos - invokedNanos) / 1_000_000;
    return (int) Math.max(1, Math.min(Integer.MAX_VALUE, left));
  }

  @Override
  public CallerInfo caller() {
    CallerInfo other = caller;
    return other == null ? client().info() : other;
  }

  @Override
  public long request() {
    return client().shown(request);
  }

  @Override
  public int waiting() {
    return service().service.queued().get();
  }

  @Override
  public CallPriority priority() {
    return priority;
  }

  @Override
  public boolean isIdempotent() {
    return idempotent;
  }

  @Override
  public long onlyMember() {
    return pinned;
  }

  @Override
  public boolean isReturnable() {
    return pinned == 0 && !refusals.isAnySentBack();
  }

  @Override
  public int attempt() {
    return attempt;
  }

  @Override
  public long receivedAt() {
    return receivedAt;
  }

  @Override
  public long schema() {
    return schema;
  }

  @Override
  public @Nullable TunnelHalf tunnel() {
    return tunnel;
  }

  @Override
  public int methodLength() {
    return methodLength;
  }

  @Override
  public Delivery body() {
    return there(body);
  }
}
