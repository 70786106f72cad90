package io.eventbus.cli.console;

/** Exit codes of the command; scripts rely on them. */
public final class ExitCode {
  public static final int OK = 0;

  /** A failure while working. */
  public static final int FAILED = 1;

  /** The command line or the configuration is wrong; the same call fails again. */
  public static final int USAGE = 2;

  /** No bus could be reached, or it refused the client. */
  public static final int NOT_CONNECTED = 3;

  /** Events were missing, doubled or out of order. */
  public static final int INTEGRITY = 4;

  /** The registry refused the request; the message has the reason. */
  public static final int REFUSED = 5;

  /** A request was not executed by any member: the same call is safe, and may succeed later. */
  public static final int NOT_EXECUTED = 6;

  private ExitCode() {}
}
