package io.eventbus.registry.faults;

import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.CommandId;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.RegistryException;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.registry.TopicCommand;
import io.eventbus.registry.TopicConfig;
import io.eventbus.registry.TopicSpec;
import io.eventbus.registry.ratis.RatisRegistry;
import io.eventbus.registry.ratis.admin.ClusterStatus;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Carries out what the test asks of a {@link BusProcess}.
 *
 * <pre>
 *   n submit basis high low deadlineMillis create topic token
 *   n submit basis high low deadlineMillis change topic token revision
 *   n submit basis high low deadlineMillis delete topic revision
 *   n read deadlineMillis topic      linearizable; topic * for all of them
 *   n local topic                    from memory
 *   n status
 *   n state bus                      of a bus, from memory
 *   n snapshot deadlineMillis        taken there
 *   n remove bus deadlineMillis      out of the members
 *   n clock offsetMillis             the wall clock jumps
 * </pre>
 *
 * <p>An answer is {@code n invoked returned localVersion} and then {@code applied version}, {@code
 * refused reason version}, {@code value version topic revision token …}, {@code error maybe|not
 * text}, or {@code is text}.
 */
final class BusCommands {
  static final String SETTING = "v";

  private final RatisRegistry registry;
  private final JumpingClock clock;
  private final Consumer<RegistrySnapshot> seen;
  private final Consumer<String> out;

  BusCommands(
      RatisRegistry registry,
      JumpingClock clock,
      Consumer<RegistrySnapshot> seen,
      Consumer<String> out) {
    this.registry = registry;
    this.clock = clock;
    this.seen = seen;
    this.out = out;
  }

  void handle(String line) {
    long invoked = System.nanoTime();
    String[] words = line.split(" ", -1);
    String number = words[0];
    switch (words[1]) {
      case "submit" -> {
        var unused =
            registry
                .submit(id(words), command(words), Duration.ofMillis(Long.parseLong(words[5])))
                .handle(
                    (result, error) -> {
                      answer(number, invoked, error != null ? failed(error) : result(result));
                      return 0;
                    });
      }
      case "read" -> {
        var unused =
            registry
                .linearizableRead(Duration.ofMillis(Long.parseLong(words[2])))
                .handle(
                    (read, error) -> {
                      if (read != null) {
                        seen.accept(read);
                      }
                      answer(
                          number, invoked, error != null ? failed(error) : value(read, words[3]));
                      return 0;
                    });
      }
      case "local" -> {
        RegistrySnapshot read = registry.localRead().snapshot();
        seen.accept(read);
        answer(number, invoked, value(read, words[2]));
      }
      case "status" -> answer(number, invoked, "is " + status());
      case "state" -> answer(number, invoked, "is " + state(new BusId(words[2])));
      case "snapshot" -> {
        var unused =
            registry
                .administration()
                .takeSnapshot(Duration.ofMillis(Long.parseLong(words[2])))
                .handle(
                    (index, error) -> {
                      answer(number, invoked, error != null ? failed(error) : "is taken");
                      return 0;
                    });
      }
      case "remove" -> {
        var unused =
            registry
                .administration()
                .remove(new BusId(words[2]), Duration.ofMillis(Long.parseLong(words[3])))
                .handle(
                    (nothing, error) -> {
                      answer(number, invoked, error != null ? failed(error) : "is removed");
                      return 0;
                    });
      }
      case "clock" -> {
        clock.jump(Duration.ofMillis(Long.parseLong(words[2])));
        answer(number, invoked, "is moved");
      }
      default -> answer(number, invoked, "error not unknown request");
    }
  }

  private static CommandId id(String[] words) {
    return new CommandId(
        Long.parseLong(words[2]), Long.parseLong(words[3]), Long.parseLong(words[4]));
  }

  private static TopicCommand command(String[] words) {
    return switch (words[6]) {
      case "create" -> new TopicCommand.Create(spec(words));
      case "change" -> new TopicCommand.Change(spec(words), Long.parseLong(words[9]));
      case "delete" -> new TopicCommand.Delete(words[7], Long.parseLong(words[8]));
      default -> throw new IllegalArgumentException("command: " + words[6]);
    };
  }

  private static TopicSpec spec(String[] words) {
    return new TopicSpec(words[7], Map.of(SETTING, words[8]));
  }

  private void answer(String number, long invoked, String text) {
    long returned = System.nanoTime();
    RegistrySnapshot local = registry.snapshot();
    seen.accept(local);
    out.accept(number + " " + invoked + " " + returned + " " + local.version() + " " + text);
  }

  private static String result(CommandResult result) {
    return result instanceof CommandResult.Refused refused
        ? "refused " + refused.reason() + " " + refused.version()
        : "applied " + result.version();
  }

  private static String value(RegistrySnapshot snapshot, String topic) {
    StringBuilder text = new StringBuilder("value ").append(snapshot.version());
    if (topic.equals("*")) {
      snapshot.topics().forEach(t -> append(text, t));
    } else {
      TopicConfig present = snapshot.topic(topic);
      if (present != null) {
        append(text, present);
      }
    }
    return text.toString();
  }

  private static void append(StringBuilder text, TopicConfig topic) {
    text.append(' ').append(topic.name()).append(' ').append(topic.revision()).append(' ');
    text.append(topic.settings().get(SETTING));
  }

  private static String failed(Throwable error) {
    Throwable cause = error;
    while (cause instanceof CompletionException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    boolean maybe = !(cause instanceof RegistryException known) || known.maybeApplied();
    return "error " + (maybe ? "maybe " : "not ") + oneLine(cause);
  }

  static String oneLine(@Nullable Throwable error) {
    return String.valueOf(error).replace('\n', ' ');
  }

  private String state(BusId id) {
    BusInfo bus = registry.snapshot().bus(id);
    return bus == null ? "unknown" : bus.state().name();
  }

  private String status() {
    ClusterStatus status = registry.status();
    return String.join(
        " ",
        List.of(
            registry.lifecycle().toString(),
            status.role().toString(),
            String.valueOf(status.leader()),
            Long.toString(status.term()),
            Boolean.toString(status.changing()),
            "v" + String.join(",", status.voters()),
            "l" + String.join(",", status.listeners()),
            Integer.toString(BusProcess.digest(registry.snapshot())),
            Long.toString(registry.localRead().age().toMillis())));
  }
}
