package io.eventbus.server.call;

import io.eventbus.schema.Execution;
import io.eventbus.schema.FailureCode;
import io.eventbus.server.delivery.Delivery;

/**
 * Request to all members of a service: one call for each of them, which waits for a place in that
 * member's window like any call for one member only. So windows bound these calls as always, and a
 * slow or lost member affects its own part only. Many members are called in later turns. Confined
 * to the loop of the caller.
 */
final class Gathering implements CallerPort, Slices.Work {
  private final GatheringClient client;
  private final long request;
  private final long[] members;
  private final int bodyBytes;
  private final CallerConnection parts;
  private final CallRequest asked = new CallRequest();
  // Index of the first member that was not called yet.
  private int next;
  // Members that have not answered; 0 <= open <= members.length.
  private int open;
  // Value as the client knows it.
  private int inFlight;

  /**
   * Creates a request that has called no member yet.
   *
   * @param like template of the calls; not needed afterwards
   */
  Gathering(
      LoopCalls calls,
      GatheringClient client,
      LoopService service,
      CallRequest like,
      long[] members,
      int bodyBytes) {
    this.bodyBytes = bodyBytes;
    this.client = client;
    this.request = like.call;
    this.members = members;
    this.open = members.length;
    this.parts = calls.callerOfMembers(this, client.info(), client.held(), members.length, request);
    asked.service = service.key.buffer();
    asked.serviceLength = service.key.length();
    asked.priority = like.priority;
    asked.timeoutMillis = like.timeoutMillis;
    asked.attempt = like.attempt;
    asked.receivedAt = like.receivedAt;
    asked.schema = like.schema;
    asked.methodLength = like.methodLength;
    Delivery body = like.body;
    if (body != null) {
      body.retain();
    }
    asked.body = body;
    count();
  }

  /** Calls the next member; answers may come from within. */
  @Override
  public boolean step(long nowNanos) {
    if (next < members.length) {
      asked.member = members[next++];
      // Parts are numbered from 1, as calls are.
      asked.call = next;
      boolean begun = parts.begin(asked);
      assert begun || parts.isClosed() : "part " + next;
      count();
    }
    if (next < members.length) {
      return true;
    }
    Delivery body = asked.body;
    asked.body = null;
    if (body != null) {
      body.release();
    }
    return false;
  }

  @Override
  public void charge(long nanos) {
    chargeWork(nanos);
  }

  @Override
  public void chargeWork(long nanos) {
    client.chargeWork(nanos);
  }

  /** Reports to the client how many calls there are or will be. */
  private void count() {
    int now = members.length - next + parts.inFlight();
    client.changed(now - inFlight);
    inFlight = now;
  }

  @Override
  public void left() {
    count();
  }

  /** Cancels all calls whose answers have not come. */
  void close(String reason) {
    open = 0;
    next = members.length;
    client.ended(request, members.length, bodyBytes);
    parts.close(reason, new Rest());
    count();
  }

  /** Members may still have their parts, which count until they have answered. */
  private final class Rest extends ClosedEnd {
    @Override
    public void left() {
      count();
    }

    @Override
    public void chargeWork(long nanos) {
      Gathering.this.chargeWork(nanos);
    }
  }

  /** Counts an answer; returns whether others are to come. */
  private boolean more() {
    open--;
    if (open > 0) {
      return true;
    }
    close(FailureMessages.CALLER_GONE);
    return false;
  }

  private long member(long part) {
    return members[(int) part - 1];
  }

  @Override
  public void reply(long part, long member, int queuedMicros, int handledMicros, Delivery reply) {
    client.end().reply(request, member(part), queuedMicros, handledMicros, more(), reply);
  }

  @Override
  public void failure(
      long part,
      long member,
      FailureCode code,
      Execution executed,
      long retryAfterMillis,
      Delivery failure) {
    client.end().failure(request, member(part), more(), failure);
  }

  @Override
  public void failure(
      long part,
      long member,
      FailureCode code,
      Execution executed,
      long retryAfterMillis,
      String message) {
    boolean left = code == FailureCode.NO_MEMBER;
    client
        .end()
        .failure(
            request,
            member(part),
            left ? FailureCode.MEMBER_LOST : code,
            executed,
            retryAfterMillis,
            more(),
            left ? FailureMessages.MEMBER_LEFT : message);
  }
}
