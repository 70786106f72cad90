package io.eventbus.loadtest.driver;

/**
 * Availability of a system on this machine. An absent one is reported with the reason, never left
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
