package io.eventbus.loadtest.driver;

/**
 * Whether a system can be measured here. One that cannot is reported with the reason, never left
 * out in silence.
 *
 * @param present whether the system can be started
 * @param detail its version when present, else what is missing and how to get it
 */
public record Availability(boolean present, String detail) {
  /**
   * The system is there.
   *
   * @param version for the report
   * @return present
   */
  public static Availability present(String version) {
    return new Availability(true, version);
  }

  /**
   * The system is not there.
   *
   * @param reason what is missing and how to get it
   * @return absent
   */
  public static Availability absent(String reason) {
    return new Availability(false, reason);
  }
}
