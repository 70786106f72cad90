package io.eventbus.protocol;

import org.jspecify.annotations.Nullable;

/** The type codes of the frames between clients and buses. */
public enum TypeCode {
  /** Client to bus: the first frame of a connection. */
  HELLO(0),
  /** Client to bus: events for a topic. */
  PUBLISH(1),
  /** Client to bus: a subscription. */
  SUBSCRIBE(2),
  /** Bus to client: go on at another bus. */
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
  /** Client to bus: the client did not go to another bus. */
  CHANGE_BUS_FAILED(13);

  private static final TypeCode[] BY_CODE = values();

  private final int code;

  TypeCode(int code) {
    this.code = code;
  }

  /**
   * Returns the number on the wire.
   *
   * @return 0 to 13
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
}
