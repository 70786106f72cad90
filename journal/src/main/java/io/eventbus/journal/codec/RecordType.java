package io.eventbus.journal.codec;

import java.util.List;

/** Types of records, each with the number that it has in an entry. */
enum RecordType {
  PUBLISH(1),
  CREATE_JOURNAL(2),
  CHANGE_JOURNAL(3),
  DELETE_JOURNAL(4),
  TRIM(5),
  PURGE(6),
  CREATE_CURSOR(7),
  ATTACH_CURSOR(8),
  SETTLE_CURSOR(9),
  DELETE_CURSOR(10),
  RELEASE(11),
  EXPIRE_PRODUCERS(12),
  TICK(13),
  DETACH_CURSOR(14),
  JOIN_CURSOR(15),
  LEAVE_CURSOR(16),
  TAKE_EVENTS(17),
  SETTLE_EVENTS(18),
  REDRIVE(19),
  SETTLE_SLOTS(20);

  private static final List<RecordType> ALL = List.of(values());

  private final int code;

  RecordType(int code) {
    this.code = code;
  }

  int code() {
    return code;
  }

  /** Returns the type of a code from 1 to {@link #maxCode}. */
  static RecordType of(int code) {
    return ALL.get(code - 1);
  }

  static int maxCode() {
    return ALL.size();
  }

  /**
   * Returns whether a record of this type is the only one of its entry. Those that look for rows
   * would not see what earlier records of the entry have changed, but for events to take, of which
   * the rules keep what the entry changes.
   */
  boolean standsAlone() {
    return switch (this) {
      case PUBLISH,
          CREATE_CURSOR,
          ATTACH_CURSOR,
          SETTLE_CURSOR,
          DETACH_CURSOR,
          DELETE_CURSOR,
          JOIN_CURSOR,
          LEAVE_CURSOR,
          TAKE_EVENTS,
          SETTLE_EVENTS,
          SETTLE_SLOTS,
          TICK ->
          false;
      case CREATE_JOURNAL,
          CHANGE_JOURNAL,
          DELETE_JOURNAL,
          TRIM,
          PURGE,
          RELEASE,
          EXPIRE_PRODUCERS,
          REDRIVE ->
          true;
    };
  }
}
