package io.eventbus.protocol;

import org.jspecify.annotations.Nullable;

/** Type codes of the frames between clients and buses. */
public enum TypeCode {
  /** Client to bus: the first frame of a connection. */
  HELLO(0),
  /** Client to bus: events for a topic. */
  PUBLISH(1),
  /** Client to bus: a subscription. */
  SUBSCRIBE(2),
  /** Bus to client: move to another bus. */
  CHANGE_BUS(3),
  /** Bus to client: events for a subscriber. */
  DELIVER(4),
  /** Client to bus: everything up to here is handled. */
  ACK(5),
  /** Client to bus: the end of a subscription. */
  UNSUBSCRIBE(6),
  /** Bus to client: the answer to {@link #HELLO}. */
  WELCOME(7),
  /** Bus to client: something was refused. */
  PROBLEM(8),
  /** Bus to client: something was done. */
  CONFIRM(9),
  /** Bus to client: events were dropped. */
  GAP(10),
  /** Both ways: everything before has arrived. */
  BARRIER(11),
  /** Bus to client: nothing more comes for a subscription. */
  DRAINED(12),
  /** Client to bus: the client did not move to another bus. */
  CHANGE_BUS_FAILED(13),
  /** Client to bus: a consumer of durable topics. */
  CONSUME(16),
  /** Bus to client: events for a consumer. */
  FEED(17),
  /** Client to bus: a consumer has handled events. */
  SETTLE(18),
  /** Client to bus: the connection serves a service. */
  REGISTER(20),
  /** Client to bus: the end of a service on the connection. */
  UNREGISTER(21),
  /** Client to bus: a call. */
  REQUEST(22),
  /** Bus to client: a call to be answered. */
  INVOKE(23),
  /** Both ways: the answer to a call. */
  REPLY(24),
  /** Both ways: a call has no reply. */
  FAILURE(25),
  /** Both ways: nobody waits for the answer to a call. */
  CANCEL(26),
  /** Both ways: a message of a stream or tunnel. */
  DATA(27),
  /** Both ways: how much may be sent, delivered or fed. */
  CREDIT(28),
  /** Client to bus: how many calls it works on at once. */
  CAPACITY(31),
  /** Client to bus: a new token. */
  AUTHENTICATE(32),
  /** Both ways: the bus is there. */
  ECHO(33),
  /** Client to bus: a question about a journal. */
  ASK(34),
  /** Bus to client: the answer to {@link #ASK}. */
  TOLD(35),
  /** Bus to client: events for a consumer do not come. */
  TRUNCATED(37);

  // Numbers of frames of later versions: null.
  private static final @Nullable TypeCode[] BY_CODE = byCode();

  private final int code;

  TypeCode(int code) {
    this.code = code;
  }

  /**
   * Returns the number on the wire.
   *
   * @return 0 or more; not every number has a type
   */
  public int code() {
    return code;
  }

  /**
   * Finds a type code by its number.
   *
   * @param code any number
   * @return the type code, or null when this version does not know it
   */
  public static @Nullable TypeCode of(int code) {
    return code >= 0 && code < BY_CODE.length ? BY_CODE[code] : null;
  }

  private static @Nullable TypeCode[] byCode() {
    int greatest = 0;
    for (TypeCode type : values()) {
      greatest = Math.max(greatest, type.code);
    }
    @Nullable TypeCode[] types = new TypeCode[greatest + 1];
    for (TypeCode type : values()) {
      types[type.code] = type;
    }
    return types;
  }

  /**
   * Returns the numbers that have a type, for people.
   *
   * @return numbers and ranges with commas between
   */
  public static String knownCodes() {
    StringBuilder known = new StringBuilder();
    for (int code = 0; code < BY_CODE.length; code++) {
      if (of(code) == null) {
        continue;
      }
      int first = code;
      while (of(code + 1) != null) {
        code++;
      }
      known.append(known.isEmpty() ? "" : ", ").append(first);
      if (code > first) {
        known.append("..").append(code);
      }
    }
    return known.toString();
  }
}
