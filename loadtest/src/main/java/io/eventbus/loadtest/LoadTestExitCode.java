package io.eventbus.loadtest;

/** What the command ends with. */
final class LoadTestExitCode {
  static final int OK = 0;
  static final int FAILED = 1;
  static final int USAGE = 2;
  static final int ABSENT = 3;
  static final int INTEGRITY = 4;

  private LoadTestExitCode() {}

  /**
   * What a run comes to: a broken promise first, then what went wrong, then that nothing was there.
   */
  static int of(boolean whole, boolean complete, boolean empty) {
    if (!whole) {
      return INTEGRITY;
    }
    if (!complete) {
      return FAILED;
    }
    return empty ? ABSENT : OK;
  }
}
