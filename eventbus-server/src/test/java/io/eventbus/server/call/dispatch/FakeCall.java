package io.eventbus.server.call.dispatch;

import io.eventbus.schema.CallPriority;

/** Call that only waits. */
final class FakeCall implements QueuedCall {
  final long number;
  private final FairnessGroup group;
  private final CallPriority priority;
  private final long queuedNanos;
  private final QueuePlace place = new QueuePlace(this);

  FakeCall(long number, FairnessGroup group, CallPriority priority, long queuedNanos) {
    this.number = number;
    this.group = group;
    this.priority = priority;
    this.queuedNanos = queuedNanos;
  }

  private static UnsupportedOperationException onlyWaits() {
    return new UnsupportedOperationException("a call that only waits");
  }

  @Override
  public QueuePlace queuePlace() {
    return place;
  }

  @Override
  public FairnessGroup group() {
    return group;
  }

  @Override
  public CallPriority priority() {
    return priority;
  }

  @Override
  public long queuedNanos() {
    return queuedNanos;
  }

  @Override
  public int bytes() {
    throw onlyWaits();
  }

  @Override
  public long pinned() {
    throw onlyWaits();
  }

  @Override
  public boolean isLocalOnly() {
    throw onlyWaits();
  }

  @Override
  public boolean isFromPeer() {
    throw onlyWaits();
  }

  @Override
  public boolean returnsToPeer() {
    throw onlyWaits();
  }

  @Override
  public boolean isServed() {
    throw onlyWaits();
  }

  @Override
  public boolean isAbandoned() {
    throw onlyWaits();
  }

  @Override
  public boolean hasRefused(CandidateMember member) {
    throw onlyWaits();
  }

  @Override
  public long begunNanos() {
    throw onlyWaits();
  }

  @Override
  public long deadlineNanos() {
    throw onlyWaits();
  }

  @Override
  public long waitNanos() {
    throw onlyWaits();
  }

  @Override
  public void memberDeadline(long atNanos) {
    throw onlyWaits();
  }

  @Override
  public void armDeadline(long nowNanos) {
    throw onlyWaits();
  }

  @Override
  public QueuedService service() {
    throw onlyWaits();
  }

  @Override
  public QueuedService currentService(long nowNanos) {
    throw onlyWaits();
  }

  @Override
  public void chargeService() {
    throw onlyWaits();
  }

  @Override
  public void waits() {
    throw onlyWaits();
  }

  @Override
  public void waitsNoLonger() {
    throw onlyWaits();
  }

  @Override
  public void ready() {
    throw onlyWaits();
  }

  @Override
  public void dispatchTo(CandidateMember member, long nowNanos) {
    throw onlyWaits();
  }

  @Override
  public void failUnserved(long nowNanos) {
    throw onlyWaits();
  }

  @Override
  public void failOverloaded(long retryAfterMillis, String reason, long nowNanos) {
    throw onlyWaits();
  }

  @Override
  public void cancelAbandoned(long nowNanos) {
    throw onlyWaits();
  }
}
