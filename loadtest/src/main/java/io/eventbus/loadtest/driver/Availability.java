package io.eventbus.loadtest.driver;

/**
 * Whether a system can be measured here. One that cannot is reported with the reason, never left
 * out in silence.
 */
public record Availability(boolean present, String detail) {
  /** The system is there. */
  public static Availability present(String version) {
    return new Availability(true, version);
  }

  /** The system is not there. */
  public static Availability absent(String reason) {
    return new Availability(false, reason);
  }
}
