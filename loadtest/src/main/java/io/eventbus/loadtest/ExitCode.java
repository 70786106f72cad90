package io.eventbus.loadtest;

/** What the command ends with. */
final class ExitCode {
  static final int OK = 0;
  static final int FAILED = 1;
  static final int USAGE = 2;
  static final int ABSENT = 3;
  static final int INTEGRITY = 4;

  private ExitCode() {}
}
