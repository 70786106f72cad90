package io.eventbus.loadtest;

import io.eventbus.loadtest.coordination.run.Disk;
import io.eventbus.loadtest.report.Report;
import io.eventbus.loadtest.report.ResultsJson;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Compares the registry with other systems that keep small data safe on several servers. */
@Command(
    name = "coordination",
    description = {
      "Compares the registry with ZooKeeper and etcd.",
      "Writes workloads with registers to coordination.yaml in --output, and runs them as"
          + " 'run coordination.yaml --keep' does."
    },
    mixinStandardHelpOptions = true)
final class CoordinationCommand implements Callable<Integer> {
  private static final int SMALL = 3;
  private static final int CLIENTS = 10;
  private static final int JOINS = 3;
  private static final double FAILURE_SECONDS = 5;
  private static final double KILL_SECONDS = 3;
  private static final double MOMENT = 0.1;

  private final Drivers drivers;
  @Spec private CommandSpec spec = CommandSpec.create();

  /** Kinds of experiments, in the order of the paper. */
  enum Kind {
    /** Closed-loop clients. */
    TABLE,
    /** Servers are killed. */
    FAILURES,
    /** Many commands in flight. */
    PIPELINED,
    /** Conditional writes. */
    TRANSACTIONS,
    /** The leader is killed many times. */
    LEADER_KILLS,
    /** Joining, and when changes are visible. */
    VISIBILITY;

    static Kind of(String word) {
      for (Kind kind : values()) {
        if (kind.name().toLowerCase(Locale.ROOT).replace('_', '-').equals(word)) {
          return kind;
        }
      }
      throw new IllegalArgumentException(
          "EXPERIMENT: "
              + word
              + " (expected: table, failures, pipelined, transactions, leader-kills or visibility)");
    }
  }

  /** Servers that the paper kills, by its names: followers (F) first, then the leader (L). */
  private static final Map<String, List<String>> FAILURES = failures();

  private static Map<String, List<String>> failures() {
    Map<String, List<String>> failures = new LinkedHashMap<>();
    failures.put("1F", List.of("follower"));
    failures.put("1L", List.of("leader"));
    failures.put("2F", List.of("follower", "follower"));
    failures.put("1F1L", List.of("follower", "leader"));
    return failures;
  }

  @Parameters(
      arity = "0..*",
      paramLabel = "EXPERIMENT",
      description =
          "Any of table, failures, pipelined, transactions, leader-kills, visibility (default: all).")
  private List<String> words = List.of();

  @Mixin private CoordinationOptions options = new CoordinationOptions();

  CoordinationCommand(Drivers drivers) {
    this.drivers = drivers;
  }

  @Override
  public Integer call() throws IOException {
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    List<Map<String, Object>> variants = new ArrayList<>();
    List<String> systems;
    try {
      Stream<Kind> kinds =
          words.isEmpty() ? Stream.of(Kind.values()) : words.stream().map(Kind::of);
      kinds.forEach(kind -> add(variants, kind));
      systems = options.drivers();
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
    Files.createDirectories(options.output());
    Files.createDirectories(options.data());
    Disk disk = Disk.of(options.data());
    out.println("data on " + disk);
    if (!disk.warning().isEmpty()) {
      out.println("WARNING: " + disk.warning());
    }
    out.flush();
    variants.forEach(
        variant ->
            variant.merge("description", ", data on " + disk, (own, more) -> "" + own + more));
    Path file = options.output().resolve("coordination.yaml");
    Map<String, Object> family = new LinkedHashMap<>();
    family.put("name", "coordination");
    family.put("payloadBytes", options.payload());
    family.put("warmUp", options.warmUp());
    family.put("variants", variants);
    ResultsJson.write(file, family);
    List<String> run = new ArrayList<>(List.of("run", file.toString(), "--keep"));
    run.add("--drivers=" + String.join(",", systems));
    run.add("--server-jvm=" + options.serverJvm());
    run.add("--output=" + options.output());
    int code =
        LoadTest.commandLine(drivers).setOut(out).setErr(err).execute(run.toArray(new String[0]));
    return code == LoadTestExitCode.INTEGRITY ? own(code) : code;
  }

  /** Returns the exit code: what other systems lose is a figure, not a failure of the load test. */
  private int own(int code) throws IOException {
    Report report = ResultsJson.report(ResultsJson.read(options.output().resolve("results.json")));
    boolean whole =
        report.results().stream()
            .filter(result -> result.driver().equals(CoordinationOptions.REGISTRY))
            .allMatch(result -> result.integrity().whole());
    return whole ? LoadTestExitCode.of(true, report.complete(), false) : code;
  }

  private void add(List<Map<String, Object>> variants, Kind kind) {
    switch (kind) {
      case TABLE -> {
        for (int servers : options.servers()) {
          for (int clients : options.clients()) {
            variants.add(
                options.variant(
                    "table-" + servers + "x" + clients,
                    options.duration(),
                    options.rounds(),
                    options.registers(servers, clients, "leader")));
          }
        }
      }
      case FAILURES -> {
        for (int servers : options.servers()) {
          FAILURES.forEach((name, kills) -> addFailure(variants, name, servers, kills));
        }
      }
      case PIPELINED -> {
        Map<String, Object> registers = options.registers(SMALL, options.pipelines(), "leader");
        registers.put("inFlight", options.inFlight());
        variants.add(
            options.variant("pipelined", options.pipelinedDuration(), options.rounds(), registers));
      }
      case TRANSACTIONS -> {
        for (int servers : options.servers()) {
          Map<String, Object> registers =
              options.registers(servers, options.maxClients(), "leader");
          registers.put("operation", "transaction");
          variants.add(
              options.variant(
                  "transactions-" + servers, options.duration(), options.rounds(), registers));
        }
      }
      case LEADER_KILLS -> {
        Map<String, Object> registers = options.registers(SMALL, CLIENTS, "spread");
        registers.put("kills", List.of("leader"));
        variants.add(options.variant("leader-kills", KILL_SECONDS, options.kills(), registers));
      }
      case VISIBILITY -> {
        for (String operation : List.of("join", "visibility")) {
          Map<String, Object> registers = options.registers(SMALL, CLIENTS, "leader");
          registers.put("operation", operation);
          registers.put("changes", options.changes());
          int runs = operation.equals("join") ? JOINS : options.rounds();
          variants.add(options.variant(operation, MOMENT, runs, registers));
        }
      }
    }
  }

  /** Adds a scenario of failures where a majority stays. */
  private void addFailure(
      List<Map<String, Object>> variants, String name, int servers, List<String> kills) {
    if (2 * kills.size() < servers) {
      Map<String, Object> registers = options.registers(servers, CLIENTS, "spread");
      registers.put("kills", kills);
      variants.add(
          options.variant(name + "-" + servers, FAILURE_SECONDS, options.rounds(), registers));
    }
  }
}
