package io.eventbus.loadtest.switching.run;

/** Steps of an experiment. */
interface Script {
  /** Returns what the experiment is called. */
  String name();

  /** Returns what is done, in one sentence. */
  String description(SwitchPlan plan);

  /** Returns how many buses it needs. */
  int buses();

  /**
   * Does it: connects the crowd, and asks buses and clients. What the publishers have left is
   * awaited, and checked, after it.
   *
   * @throws io.eventbus.loadtest.driver.DriverException if something does not come about
   */
  void play(Stage stage) throws InterruptedException;
}
