package io.eventbus.server.delivery;

/**
 * Kind of a frame on its way to clients, which decides how a client's queue treats it. A further
 * kind is a constant here; queues know nothing but these rules.
 */
public enum DeliveryKind {
  /**
   * A {@code Deliver}, for any number of subscribers. The policy of each decides what happens to it
   * when their queue is full, and their {@code Credit} when it is written. The only kind that
   * queues parse again.
   */
  EVENTS(false, Overtaking.NEVER),

  /**
   * Data for one client that it has not requested with a frame of its own: {@code Gap}. A queue
   * keeps its place among the events, never drops it, and serves the client all the same; its
   * creator bounds how much of it waits.
   */
  DIRECT(false, Overtaking.NEVER),

  /**
   * An answer, for one client. A queue never drops it; a client with too many of them that it has
   * not read is not served until it reads. For a client that grants {@code Credit} it overtakes
   * events.
   */
  CONTROL(true, Overtaking.WITH_CREDIT),

  /**
   * As {@link #CONTROL}, but its place says something: what was queued before it is written before
   * it, also what is kept aside. {@code Drained}.
   */
  MARKER(true, Overtaking.NEVER),

  /**
   * Answer of a member, on its way to the caller. A queue never drops it, and writes it before
   * events, in the order of the frames of calls; its creator bounds how much of it waits.
   */
  CALL(false, Overtaking.ALWAYS),

  /** As {@link #CALL}: a call on its way to a member. A queue counts how many it has written. */
  INVOKE(false, Overtaking.ALWAYS),

  /** As {@link #CALL}, but an answer of the bus itself, as {@link #CONTROL}. */
  CALL_ANSWER(true, Overtaking.ALWAYS),

  /**
   * Data of another client in a stream or tunnel, and its end. A queue never drops it, keeps its
   * order and writes it in turn with events, whatever these wait for; it counts how many it has
   * written, and its creator bounds how much of it waits.
   */
  BULK(false, Overtaking.NEVER),

  /**
   * As {@link #BULK}, but stored events for a consumer of the client, and what comes in their
   * order.
   */
  FEED(false, Overtaking.NEVER);

  /** Condition under which a kind is written before events that were queued before it. */
  private enum Overtaking {
    NEVER,
    WITH_CREDIT,
    ALWAYS
  }

  private final boolean answer;
  private final Overtaking overtaking;

  DeliveryKind(boolean answer, Overtaking overtaking) {
    this.answer = answer;
    this.overtaking = overtaking;
  }

  /** Returns whether a client has to read it before more of its requests are served. */
  public boolean isAnswer() {
    return answer;
  }

  /** Returns whether it overtakes events that wait for the client's {@code Credit}. */
  public boolean overtakes() {
    return overtaking != Overtaking.NEVER;
  }

  /** Returns whether it overtakes events even if the client grants no {@code Credit}. */
  public boolean alwaysOvertakes() {
    return overtaking == Overtaking.ALWAYS;
  }
}
