package io.eventbus.server.call;

import io.eventbus.schema.Execution;
import io.eventbus.schema.FailureCode;
import io.eventbus.server.routing.Delivery;

/**
 * A request to all members of a service: one call for each of them, which waits for a place in that
 * member's window like any call for one member only. So what members have is bounded as always, and
 * a member that is slow or gone concerns its own part. Confined to the loop of the caller.
 */
final class Gathering implements CallerEnd {
  private final GatheringClient client;
  private final long request;
  private final long[] members;
  private final int bodyBytes;
  private final CallingClient parts;
  // Members that have not answered; 0 <= open <= members.length.
  private int open;

  /**
   * Makes one that has asked nobody yet.
   *
   * @param request the caller's number
   * @param members the numbers of the members, each once
   * @param bodyBytes what its body was counted for
   */
  Gathering(LoopCalls calls, GatheringClient client, long request, long[] members, int bodyBytes) {
    this.bodyBytes = bodyBytes;
    this.client = client;
    this.request = request;
    this.members = members;
    this.open = members.length;
    this.parts = calls.callerOfMembers(this, client.info(), client.held(), members.length, request);
  }

  /** Asks them; answers may come from within. */
  void begin(CallRequest asked) {
    asked.waitMillis = 0;
    asked.idempotent = false;
    for (int i = 0; i < members.length; i++) {
      // Parts are numbered from 1, as calls are.
      asked.call = i + 1L;
      asked.member = members[i];
      if (!parts.begin(asked)) {
        // Closed from within.
        return;
      }
    }
  }

  /** Nobody waits for answers any more. */
  void close(String reason) {
    open = 0;
    client.ended(request, members.length, bodyBytes);
    parts.close(reason);
  }

  /** Counts an answer; returns whether others are to come. */
  private boolean more() {
    open--;
    if (open > 0) {
      return true;
    }
    client.ended(request, members.length, bodyBytes);
    parts.close();
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
            left ? Texts.MEMBER_LEFT : message);
  }
}
