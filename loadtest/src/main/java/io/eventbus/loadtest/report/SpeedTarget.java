package io.eventbus.loadtest.report;

/**
 * Something that the event bus is to reach, and what was found.
 *
 * @param goal what is to be reached
 * @param figure what was measured
 * @param verdict whether that reaches it
 */
public record SpeedTarget(String goal, String figure, Verdict verdict) {
  /** Whether a target is reached. */
  public enum Verdict {
    /** It is. */
    REACHED("reached"),
    /** It is not. */
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

  /**
   * Makes one that was measured.
   *
   * @param goal what is to be reached
   * @param figure what was measured
   * @param reached whether that reaches it
   * @return the target
   */
  public static SpeedTarget of(String goal, String figure, boolean reached) {
    return new SpeedTarget(goal, figure, reached ? Verdict.REACHED : Verdict.MISSED);
  }

  /**
   * Makes one that was not measured.
   *
   * @param goal what is to be reached
   * @param missing what there would have to be
   * @return the target
   */
  public static SpeedTarget notMeasured(String goal, String missing) {
    return new SpeedTarget(goal, missing, Verdict.NOT_MEASURED);
  }
}
