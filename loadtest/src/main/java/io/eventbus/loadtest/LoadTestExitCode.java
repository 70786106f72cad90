package io.eventbus.loadtest;

/** Exit codes of the command. */
final class LoadTestExitCode {
  static final int OK = 0;
  static final int FAILED = 1;
  static final int USAGE = 2;
  static final int ABSENT = 3;
  static final int INTEGRITY = 4;

  private LoadTestExitCode() {}

  /**
   * Returns the exit code of a run: a broken promise first, then a failure, then an absent system.
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
