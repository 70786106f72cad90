package io.eventbus.cli;

import io.eventbus.cli.console.ExitCode;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;

/** Help on the exit codes that each command can end with, and no others. */
final class ExitCodeHelp {
  private static final int INTERRUPTED = 130;

  private static final Map<Integer, String> MEANINGS =
      new TreeMap<>(
          Map.of(
              ExitCode.OK,
              "done",
              ExitCode.FAILED,
              "failed",
              ExitCode.USAGE,
              "wrong command line or configuration",
              ExitCode.NOT_CONNECTED,
              "no bus could be reached, or it refused the client",
              ExitCode.INTEGRITY,
              "events were missing, doubled or out of order",
              ExitCode.REFUSED,
              "what was asked for was refused",
              ExitCode.NOT_EXECUTED,
              "no member has executed the request: making it again is safe",
              INTERRUPTED,
              "interrupted (143 when terminated)"));

  private static final Set<Integer> LOCAL =
      Set.of(ExitCode.OK, ExitCode.FAILED, ExitCode.USAGE, INTERRUPTED);
  private static final Set<Integer> CLIENT = with(ExitCode.NOT_CONNECTED);
  private static final Set<Integer> CALLER =
      Set.of(
          ExitCode.OK,
          ExitCode.FAILED,
          ExitCode.USAGE,
          ExitCode.NOT_CONNECTED,
          ExitCode.NOT_EXECUTED,
          INTERRUPTED);
  private static final Set<Integer> OPERATOR =
      Set.of(
          ExitCode.OK,
          ExitCode.FAILED,
          ExitCode.USAGE,
          ExitCode.NOT_CONNECTED,
          ExitCode.REFUSED,
          INTERRUPTED);
  private static final Set<Integer> TEXT = Set.of(ExitCode.OK, ExitCode.USAGE);

  /** Codes by the name of a command, or of its parent. */
  private static final Map<String, Set<Integer>> CODES =
      Map.ofEntries(
          Map.entry("eventbus", MEANINGS.keySet()),
          Map.entry("serve", LOCAL),
          Map.entry("publish", CLIENT),
          Map.entry("subscribe", CLIENT),
          Map.entry("work", CLIENT),
          Map.entry("request", CALLER),
          Map.entry("services", CALLER),
          Map.entry("broadcast", CLIENT),
          Map.entry("respond", CLIENT),
          Map.entry("tunnel", CALLER),
          Map.entry("demo", with(ExitCode.INTEGRITY)),
          Map.entry(
              "bench",
              Set.of(
                  ExitCode.OK,
                  ExitCode.FAILED,
                  ExitCode.USAGE,
                  ExitCode.NOT_CONNECTED,
                  ExitCode.INTEGRITY,
                  INTERRUPTED)),
          Map.entry("registry", OPERATOR),
          Map.entry("test", Set.of(ExitCode.OK, ExitCode.FAILED, ExitCode.USAGE)),
          Map.entry("restore", LOCAL),
          Map.entry("recover", LOCAL),
          Map.entry("buses", OPERATOR),
          Map.entry("drain", OPERATOR),
          Map.entry("move", OPERATOR),
          Map.entry("revoke", OPERATOR),
          Map.entry("journal", OPERATOR),
          Map.entry("whoami", CLIENT),
          Map.entry("hash-password", Set.of(ExitCode.OK, ExitCode.FAILED, ExitCode.USAGE)),
          Map.entry("permissions", TEXT),
          Map.entry("config", TEXT),
          Map.entry("version", TEXT),
          Map.entry("generate-completion", TEXT),
          Map.entry("help", TEXT));

  private ExitCodeHelp() {}

  private static Set<Integer> with(int code) {
    return Set.of(ExitCode.OK, ExitCode.FAILED, ExitCode.USAGE, code, INTERRUPTED);
  }

  /** Sets the lists of a command and of all below it. */
  static void addTo(CommandLine command) {
    addTo(command, null);
  }

  private static void addTo(CommandLine command, @Nullable Set<Integer> ofParent) {
    Set<Integer> codes = CODES.getOrDefault(command.getCommandName(), ofParent);
    if (codes == null) {
      throw new IllegalStateException("no exit codes for " + command.getCommandName());
    }
    Map<String, String> list = new LinkedHashMap<>();
    MEANINGS.forEach(
        (code, meaning) -> {
          if (codes.contains(code)) {
            list.put("%3d".formatted(code), meaning);
          }
        });
    command.getCommandSpec().usageMessage().exitCodeList(list);
    boolean isRoot = command.getParent() == null;
    command.getSubcommands().values().forEach(below -> addTo(below, isRoot ? null : codes));
  }
}
