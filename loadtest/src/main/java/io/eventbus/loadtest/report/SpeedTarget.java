package io.eventbus.loadtest.report;

/** Something that the event bus is to reach, and what was found. */
public record SpeedTarget(String goal, String figure, Verdict verdict) {
  /** Verdict on a target. */
  public enum Verdict {
    /** Reached. */
    REACHED("reached"),
    /** Not reached. */
    MISSED("NOT reached"),
    /** Something that it needs was not part of this invocation. */
    NOT_MEASURED("not measured");

    private final String text;

    Verdict(String text) {
      this.text = text;
    }

    @Override
    public String toString() {
      return text;
    }
  }

  /** Creates one that was measured. */
  public static SpeedTarget of(String goal, String figure, boolean reached) {
    return new SpeedTarget(goal, figure, reached ? Verdict.REACHED : Verdict.MISSED);
  }

  /** Creates one that was not measured. */
  public static SpeedTarget notMeasured(String goal, String missing) {
    return new SpeedTarget(goal, missing, Verdict.NOT_MEASURED);
  }
}
