package io.eventbus.loadtest.coordination.run;

import io.eventbus.loadtest.coordination.CoordinationSystem;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The systems of one experiment, which take turns. One that fails is told, checked, ended and left
 * out from then on; the others go on. For one thread.
 */
final class Turns implements AutoCloseable {
  /** What is done with one system. */
  interface Turn {
    void take(Fleet fleet) throws InterruptedException;
  }

  private final Fleet.Setup setup;
  private final Findings findings;
  private final Consumer<String> progress;
  private final List<Fleet> running = new ArrayList<>();

  Turns(Fleet.Setup setup, Findings findings, Consumer<String> progress) {
    this.setup = setup;
    this.findings = findings;
    this.progress = progress;
  }

  void start(CoordinationSystem system, Path directory) throws InterruptedException {
    try {
      running.add(Fleet.start(setup, system, directory));
    } catch (RuntimeException e) {
      problem(system, e);
    }
  }

  /** Lets each system that has not failed have its turn. */
  void each(Turn turn) throws InterruptedException {
    for (Fleet fleet : List.copyOf(running)) {
      try {
        turn.take(fleet);
      } catch (RuntimeException e) {
        problem(fleet.system(), e);
        running.remove(fleet);
        end(fleet);
      }
    }
  }

  /** Checks what is left and ends it. */
  void end() throws InterruptedException {
    while (!running.isEmpty()) {
      end(running.remove(0));
    }
  }

  private void end(Fleet fleet) throws InterruptedException {
    try (fleet) {
      findings.add(fleet.check());
    } catch (RuntimeException e) {
      problem(fleet.system(), e);
    }
  }

  private void problem(CoordinationSystem system, RuntimeException error) {
    String text =
        setup.experiment() + ", " + setup.servers() + " servers, " + system.name() + ": " + error;
    findings.problem(text);
    progress.accept("failed: " + text);
  }

  /** Ends what an interruption has left. */
  @Override
  public void close() {
    running.forEach(Fleet::close);
    running.clear();
  }
}
