package io.eventbus.loadtest.run;

/** Time that passes only when somebody waits, and a little more than asked for if told so. */
final class ManualTicker implements Ticker {
  private long now;
  private final long oversleep;

  ManualTicker(long now, long oversleep) {
    this.now = now;
    this.oversleep = oversleep;
  }

  @Override
  public long nanoTime() {
    return now;
  }

  @Override
  public void park(long nanos) {
    now += nanos + oversleep;
  }

  void advance(long nanos) {
    now += nanos;
  }
}
