package io.eventbus.conformance;

import io.eventbus.conformance.report.JunitReport;
import io.eventbus.conformance.report.KnownFailures;
import io.eventbus.conformance.report.MarkdownReport;
import io.eventbus.conformance.report.Result;
import io.eventbus.conformance.run.Outcome;
import io.eventbus.conformance.run.Outcome.Verdict;
import io.eventbus.conformance.run.Seat;
import io.eventbus.conformance.run.Suite;
import io.eventbus.conformance.run.VectorRounds;
import io.eventbus.conformance.scenario.Scenario;
import io.eventbus.conformance.scenario.ScenarioFailure;
import io.eventbus.conformance.scenario.ScenarioFiles;
import io.eventbus.conformance.sdk.JavaTestee;
import io.eventbus.conformance.testee.Testee;
import io.eventbus.conformance.testee.TesteeProcess;
import io.eventbus.conformance.vector.VectorFiles;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Command line of the conformance kit. */
@Command(
    name = "eventbus-conformance",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Tells whether a client library does what docs/protocol.md asks of a client.",
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:all scenarios passed, but those that the client cannot do and those that are known to fail",
      "1:one failed, or one that is known to fail did not",
      "2:wrong flags"
    })
public final class Conformance implements Callable<Integer> {
  @Option(
      names = "--testee",
      paramLabel = "COMMAND",
      description =
          "starts the adapter of the client under test, run by sh; 'java' is the Java SDK in this"
              + " process")
  private @Nullable String testee;

  @Option(
      names = "--only",
      paramLabel = "GLOB",
      description = "plays only these scenarios, for example 'R*' or '*.resend-*'; may be repeated")
  private List<String> only = List.of();

  @Option(
      names = "--tier",
      paramLabel = "N",
      description = "plays only this tier: 1 vectors, 2 the scripted bus, 3 live buses")
  private int tier;

  @Option(
      names = "--known-failing",
      paramLabel = "FILE",
      description = "lines of an id and a reason; these scenarios must fail")
  private @Nullable Path knownFailing;

  @Option(names = "--junit", paramLabel = "DIR", description = "writes TEST-conformance.xml here")
  private @Nullable Path junit;

  @Option(names = "--report", paramLabel = "FILE", description = "writes a report in Markdown")
  private @Nullable Path report;

  @Option(
      names = "--parallel",
      paramLabel = "N",
      defaultValue = "4",
      description =
          "scenarios at a time, each with a process of its own (default: ${DEFAULT-VALUE})")
  private int parallel;

  @Option(
      names = "--within",
      paramLabel = "MILLIS",
      defaultValue = "5000",
      description = "how long a step waits at most (default: ${DEFAULT-VALUE})")
  private long within;

  @Option(names = "--list", description = "prints the scenarios and what they say")
  private boolean list;

  @Option(
      names = "--write-vectors",
      paramLabel = "DIR",
      description = "writes the files of vectors, for who changes the protocol")
  private @Nullable Path vectors;

  private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  private Conformance() {}

  /** Runs the command, and ends the process with its exit code. */
  public static void main(String[] args) {
    if (System.getProperty("logback.configurationFile") == null) {
      System.setProperty("logback.configurationFile", "conformance-logback.xml");
    }
    System.exit(new CommandLine(new Conformance()).execute(args));
  }

  @Override
  public Integer call() throws IOException {
    if (vectors != null) {
      for (Map.Entry<String, String> file : VectorFiles.make().entrySet()) {
        Files.writeString(vectors.resolve(file.getKey()), file.getValue());
      }
      return 0;
    }
    List<Scenario> all =
        Stream.concat(VectorRounds.all().stream(), ScenarioFiles.all().stream()).toList();
    List<Scenario> chosen = all.stream().filter(this::isChosen).toList();
    if (list) {
      chosen.forEach(scenario -> out.println(scenario.id() + "\n    " + scenario.says()));
      return 0;
    }
    if (testee == null || chosen.isEmpty() || parallel < 1 || within < 1) {
      out.println(
          testee == null
              ? "--testee is missing (expected: a command, or java)"
              : chosen.isEmpty()
                  ? "--only, --tier: no scenario (expected: some of --list)"
                  : "--parallel, --within: "
                      + parallel
                      + ", "
                      + within
                      + " (expected: at least 1)");
      return 2;
    }
    Set<String> ids = all.stream().map(Scenario::id).collect(Collectors.toSet());
    KnownFailures known =
        knownFailing == null ? new KnownFailures() : KnownFailures.read(knownFailing, ids);
    Result result = play(chosen, known);
    if (junit != null) {
      Files.createDirectories(junit);
      Files.writeString(junit.resolve("TEST-conformance.xml"), JunitReport.of(result));
    }
    if (report != null) {
      Files.writeString(report, MarkdownReport.of(result));
    }
    out.println(result.agent() + ": " + result.summary());
    return result.isExpected() ? 0 : 1;
  }

  private boolean isChosen(Scenario scenario) {
    boolean named =
        only.isEmpty()
            || only.stream()
                .anyMatch(
                    glob ->
                        scenario
                            .id()
                            .matches(
                                Pattern.quote(glob)
                                    .replace("*", "\\E.*\\Q")
                                    .replace("?", "\\E.\\Q")));
    return named && (tier == 0 || tier == scenario.tier());
  }

  private Result play(List<Scenario> chosen, KnownFailures known) {
    Testee.Factory factory =
        "java".equals(testee)
            ? JavaTestee::start
            : TesteeProcess.of(java.util.Objects.requireNonNull(testee));
    List<Outcome> outcomes = new ArrayList<>();
    String agent = "";
    try (Suite suite = new Suite(factory, Duration.ofMillis(within))) {
      try (Seat seat = suite.seat()) {
        try {
          seat.capabilities();
        } catch (ScenarioFailure e) {
          out.println("the testee does not start: " + e.getMessage());
        }
        agent = seat.agent();
        for (Scenario round : chosen.stream().filter(s -> s.tier() == 1).toList()) {
          Outcome outcome = VectorRounds.play(round, seat);
          outcomes.add(outcome);
          print(new Result(agent, List.of(outcome), known), outcome);
        }
      }
      String name = agent;
      outcomes.addAll(
          suite.play(
              chosen.stream().filter(s -> s.tier() > 1).toList(),
              parallel,
              outcome -> print(new Result(name, List.of(outcome), known), outcome)));
    }
    return new Result(agent, outcomes, known);
  }

  private void print(Result result, Outcome outcome) {
    out.println(
        String.format(
            Locale.ROOT,
            "%-8s  %-44s %6d ms  %s",
            result.text(outcome),
            outcome.scenario().id(),
            outcome.took().toMillis(),
            outcome.verdict() == Verdict.LEFT_OUT ? outcome.message() : ""));
    if (!result.isExpected(outcome) && outcome.verdict() == Verdict.FAILED) {
      out.println("    " + outcome.scenario().says());
      out.println("    " + outcome.message());
      outcome.transcript().forEach(line -> out.println("      " + line));
    }
  }
}
