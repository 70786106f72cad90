package io.eventbus.registry.faults;

import io.eventbus.registry.history.Outcome;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Commands that were answered. Repeated with the same id, each gets the same answer again: if it
 * had been lost, or were applied again, the version would be another one. Any thread.
 */
final class Acknowledged {
  /** Command and its first answer. */
  record Command(String request, Outcome outcome) {}

  private final Recorder recorder;
  private final List<Command> commands = new ArrayList<>();
  private int repeated;
  private int forgotten;

  Acknowledged(Recorder recorder) {
    this.recorder = recorder;
  }

  synchronized void add(String request, Outcome outcome) {
    commands.add(new Command(request, outcome));
  }

  /** Returns the last commands, the newest last. */
  synchronized List<Command> last(int count) {
    return List.copyOf(commands.subList(Math.max(0, commands.size() - count), commands.size()));
  }

  synchronized int size() {
    return commands.size();
  }

  synchronized int repeated() {
    return repeated;
  }

  synchronized int forgotten() {
    return forgotten;
  }

  /** Compares the answer to a repetition, if there is one, with the first answer. */
  synchronized void compare(String request, Outcome first, @Nullable Answer answer) {
    if (answer == null || answer.kind().equals("error")) {
      return;
    }
    String now = String.join(" ", answer.words());
    if (now.startsWith("refused ID_FORGOTTEN ")) {
      forgotten++;
      return;
    }
    repeated++;
    String before =
        first instanceof Outcome.Refused refused
            ? "refused " + refused.reason() + " " + refused.version()
            : "applied " + ((Outcome.Applied) first).version();
    if (!now.equals(before)) {
      recorder.finding(
          "a repeated command got another answer: " + request + ": " + before + ", then " + now);
    }
  }
}
