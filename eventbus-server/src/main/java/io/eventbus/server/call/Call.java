package io.eventbus.server.call;

import io.eventbus.schema.CallPriority;
import io.eventbus.schema.Execution;
import io.eventbus.server.call.tunnel.TunnelHalf;
import io.eventbus.server.routing.Delivery;
import io.eventbus.server.stats.CallStats;
import org.jspecify.annotations.Nullable;

/**
 * One call, from its request to its answer; recycled.
 *
 * <p>It belongs to the loop of its caller. While it is {@link CallState#DISPATCHED} or {@link
 * CallState#ENDED} the member's loop has it as well: that one reads what does not change meanwhile,
 * writes the fields that are marked so, and gives the call back exactly once for each time that it
 * was given it. Before that the call is not recycled and gets no other member, so that a pointer to
 * it is never one to another call.
 */
final class Call extends TimerWheel.Entry implements MemberInvocation {
  private final LoopCalls owner;
  private CallState state = CallState.FREE;

  @Nullable CallerConnection client;
  @Nullable LoopService service;
  @Nullable ServiceMember member;
  @Nullable Delivery body;
  // The caller's end, of a stream or tunnel.
  private @Nullable TunnelHalf tunnel;
  private CallPriority priority = CallPriority.NORMAL;
  private boolean idempotent;
  private boolean home;
  private boolean returnable;
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
  // Bytes taken from its connection's share, besides its own heap: for a service
  // that nobody serves, and for its request.
  private int serviceBytes;
  private int bodyBytes;
  private boolean hasLeft;

  /** The bus's number, of this dispatch. */
  long number;

  /** How often it was given to another member although it was perhaps executed. */
  int retries;

  /** Who has refused it. */
  final CallRefusals refusals = new CallRefusals();

  /** Until when it waits for a member where there is none. */
  long memberDeadlineNanos;

  /** Since when it waits, if it does; the time in which it was given away but not sent counts. */
  long queuedNanos;

  // While it waits.
  @Nullable CallerQueue line;
  @Nullable Call before;
  @Nullable Call behind;
  @Nullable ServiceQueue queue;

  // Written by the member's loop.
  private long place;
  private long invokedNanos;
  private boolean fault;
  private boolean cancelled;
  private long answeredBy;
  private long farMicros;

  Call(LoopCalls owner) {
    this.owner = owner;
  }

  /** Takes over what is asked for. */
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
    home = asked.far || asked.tunnel != null;
    returnable = asked.far && asked.returnable;
    caller = asked.far ? asked.caller : null;
    request = asked.far ? asked.request : asked.call;
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

  /** Says what was taken for it: for the service that it waits for, and for its request. */
  void holds(int ofService, int ofBody) {
    serviceBytes = ofService;
    bodyBytes = ofBody;
  }

  /** Counts the service, which nobody serves and which is known because this call waits for it. */
  void keepsService() {
    if (serviceBytes == 0) {
      serviceBytes = CallHeap.ofWaitingService(service().key.length());
      client().held().add(serviceBytes);
    }
  }

  /** Gives back what the service was counted for: it is known because of members. */
  void keepsNoService() {
    client().held().release(serviceBytes, 0);
    serviceBytes = 0;
  }

  /**
   * Gives back what the caller was charged; the member that has the call is charged from now on.
   */
  void leavesCaller() {
    client().held().release(CallHeap.CALL + serviceBytes + bodyBytes, bodyBytes);
    hasLeft = true;
  }

  /** Forgets everything. */
  void free() {
    become(CallState.FREE);
    if (!hasLeft) {
      leavesCaller();
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

  /** What to say where no member has it now. */
  Execution executed() {
    return retries > 0 ? Execution.UNKNOWN : Execution.NO;
  }

  /** The member went with it, and it goes to another. */
  void repeat() {
    retries++;
    // The caller says how it begins: past the largest number other buses could not read it.
    attempt = Math.max(attempt, attempt + 1);
  }

  @Override
  TimerWheel.Dues dues() {
    return client().dues();
  }

  @Override
  void due(long nowNanos) {
    owner.endings().due(this, nowNanos);
  }

  boolean isLate(long nowNanos) {
    return deadlineNanos - nowNanos <= 0;
  }

  @Override
  public long deadlineNanos() {
    return deadlineNanos;
  }

  long begunNanos() {
    return begunNanos;
  }

  long waitNanos() {
    return waitNanos;
  }

  LoopCalls owner() {
    return owner;
  }

  CallPriority priority() {
    return priority;
  }

  boolean isIdempotent() {
    return idempotent;
  }

  /** Where it is counted. */
  CallStats stats() {
    return client().stats();
  }

  /**
   * Whether only members of this bus may have it: it comes from another one, or is a stream or
   * tunnel.
   */
  boolean isHome() {
    return home;
  }

  /** Whether it comes from another bus. */
  boolean isFromBus() {
    return caller != null;
  }

  /** Whether it goes back to the other bus if it finds no place soon. */
  boolean isReturnable() {
    return returnable;
  }

  /** Whether there are members that may have it. */
  boolean isServed() {
    return service().service.isServed(home);
  }

  /** The number by which the connection of its caller knows it. */
  long key() {
    return key;
  }

  /** The only member that may have it; 0 for any. */
  long pinned() {
    return pinned;
  }

  /** What it counts for where bytes are counted. */
  int bytes() {
    return bytes;
  }

  FairnessGroup share() {
    return client().share();
  }

  CallerConnection client() {
    return there(client);
  }

  LoopService service() {
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

  /** The member's loop: the call is given to the client, so many others before it. */
  void invoked(long placeInOrder, long nowNanos) {
    place = placeInOrder;
    invokedNanos = nowNanos;
    fault = false;
    answeredBy = member().number();
    farMicros = 0;
    cancelled = false;
  }

  /** The member's loop: nobody waits for the answer, or needs the request. */
  void cancelled() {
    cancelled = true;
    Delivery content = body;
    body = null;
    if (content != null) {
      content.release();
    }
  }

  /** The member's loop: whether nobody waits for the answer. */
  boolean wasCancelled() {
    return cancelled;
  }

  /** The member's loop: it was another bus, a member of which has answered. */
  void answered(long by, int queuedMicros) {
    answeredBy = by;
    farMicros = queuedMicros;
  }

  /** The number of the member that has answered; 0 if only its bus is known. */
  long answeredBy() {
    return answeredBy;
  }

  /** How long it was with buses before a member had it, in microseconds. */
  int queuedMicros() {
    long micros = (invokedNanos - begunNanos) / 1_000 + farMicros;
    return (int) Math.min(Integer.MAX_VALUE, micros);
  }

  /** The member's loop: that the caller's time has passed is the member's fault. */
  void isFault() {
    fault = true;
  }

  /** The member's loop: whether an answer that comes now says nothing good of the member. */
  boolean wasFault() {
    return fault;
  }

  /** The member's loop: how many calls its client was given before. */
  long place() {
    return place;
  }

  /** The member's loop, and the caller's when it has the call back. */
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
  public CallPriority urgency() {
    return priority;
  }

  @Override
  public boolean mayRepeat() {
    return idempotent;
  }

  @Override
  public long onlyMember() {
    return pinned;
  }

  @Override
  public boolean mayComeBack() {
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
