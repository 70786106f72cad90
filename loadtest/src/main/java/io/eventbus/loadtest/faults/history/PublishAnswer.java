package io.eventbus.loadtest.faults.history;

/** Answer to a publication, as its client got it. */
public sealed interface PublishAnswer {
  /**
   * Confirmation.
   *
   * @param position of the event; 0 if it was not told, for an event that was stored before
   */
  record Stored(long position) implements PublishAnswer {}

  /**
   * Refusal after which the event is certainly not stored.
   *
   * @param code of the refusal
   */
  record Refused(String code) implements PublishAnswer {}

  /**
   * Outcome that nobody knows: the event may be stored, now or later.
   *
   * @param why the failure
   */
  record Unknown(String why) implements PublishAnswer {}
}
