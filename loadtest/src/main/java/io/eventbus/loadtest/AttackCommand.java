package io.eventbus.loadtest;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.hostile.Attacks;
import io.eventbus.loadtest.attack.report.AttackReport;
import io.eventbus.loadtest.attack.report.AttackTable;
import io.eventbus.loadtest.attack.run.AttackExperiment;
import io.eventbus.loadtest.attack.run.AttackPlan;
import io.eventbus.loadtest.attack.run.AttackResult;
import io.eventbus.loadtest.attack.run.BusSpec;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Attacks a bus beside well-behaved clients, and says what they noticed. */
@Command(
    name = "attack",
    description = "Runs hostile programs against a bus of its own, beside honest pairs of clients.",
    mixinStandardHelpOptions = true)
final class AttackCommand implements Callable<Integer> {
  private static final String ALL = "all";
  private static final String LIST = "list";

  private final Clock clock = Clock.systemUTC();
  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(
      arity = "0..*",
      paramLabel = "NAME",
      description =
          "Attacks by name; a name that ends in * stands for all that begin so; all (the default) or"
              + " list.")
  private List<String> names = List.of();

  @Mixin private AttackOptions options = new AttackOptions();

  @Override
  public Integer call() throws IOException, InterruptedException {
    PrintWriter out = spec.commandLine().getOut();
    BusSpec bus;
    AttackPlan plan;
    List<Attack> attacks;
    try {
      bus = options.bus();
      plan = options.plan();
      attacks = chosen();
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
    if (names.contains(LIST)) {
      list(out, bus);
      return LoadTestExitCode.OK;
    }
    if (!Files.exists(bus.jar())) {
      throw new ParameterException(spec.commandLine(), "jar: " + bus.jar() + " (expected: a file)");
    }
    String startedAt = clock.instant().toString();
    List<AttackResult> results = new ArrayList<>();
    boolean complete = true;
    for (int round = 1; round <= options.rounds(); round++) {
      for (Attack attack : attacks) {
        complete &= play(new AttackExperiment(attack, bus, plan), attack, round, results, out);
        // Later attacks may fail.
        write(AttackReport.of(startedAt, command(), bus, results));
      }
    }
    out.println();
    out.print(AttackTable.of(results));
    out.flush();
    AttackReport report = AttackReport.of(startedAt, command(), bus, results);
    return complete && report.missed().isEmpty() ? LoadTestExitCode.OK : LoadTestExitCode.FAILED;
  }

  private static boolean play(
      AttackExperiment experiment,
      Attack attack,
      int round,
      List<AttackResult> results,
      PrintWriter out)
      throws InterruptedException {
    try {
      AttackResult result = experiment.play(round);
      results.add(result);
      tell(out, AttackTable.line(result));
      return true;
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) {
      // The others can be played all the same.
      tell(out, String.format("%-22s could not be played: %s", attack.name(), e));
      return false;
    }
  }

  private List<Attack> chosen() {
    if (names.isEmpty() || names.contains(ALL) || names.contains(LIST)) {
      return Attacks.all();
    }
    List<Attack> chosen = new ArrayList<>();
    for (String name : names) {
      List<Attack> found = Attacks.all().stream().filter(a -> matches(name, a.name())).toList();
      if (found.isEmpty()) {
        throw new IllegalArgumentException(
            "attack: "
                + name
                + " (expected: "
                + Attacks.all().stream().map(Attack::name).collect(Collectors.joining(", "))
                + ", all or list)");
      }
      chosen.addAll(found);
    }
    return chosen;
  }

  private static boolean matches(String asked, String name) {
    return asked.endsWith("*")
        ? name.startsWith(asked.substring(0, asked.length() - 1))
        : name.equals(asked);
  }

  private static void list(PrintWriter out, BusSpec bus) {
    for (Attack attack : Attacks.all()) {
      out.printf("%-22s %s %s%n", attack.name(), attack.what(), attack.knobs(bus.heapMegabytes()));
    }
    out.flush();
  }

  private String command() {
    return "loadtest attack "
        + String.join(" ", spec.commandLine().getParseResult().originalArgs());
  }

  private void write(AttackReport report) throws IOException {
    Path file = options.json();
    if (file != null) {
      new ObjectMapper()
          .enable(SerializationFeature.INDENT_OUTPUT)
          .writeValue(file.toFile(), report);
    }
  }

  private static void tell(PrintWriter out, String line) {
    out.println(line);
    out.flush();
  }
}
