package io.eventbus.loadtest;

import io.eventbus.loadtest.driver.Availability;
import io.eventbus.loadtest.workload.DurableTopic;
import io.eventbus.loadtest.workload.Workload;
import io.eventbus.loadtest.workload.Workloads;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Shows what can be run, and against what. */
@Command(
    name = "list",
    description = "Lists the families of workloads, and the systems with what is absent.",
    mixinStandardHelpOptions = true)
final class ListCommand implements Runnable {
  /** As many names as fit on some lines; a family of shapes and sizes has more than a hundred. */
  private static final int MAX_NAMES = 12;

  private final Drivers drivers;
  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(
      arity = "0..*",
      paramLabel = "WORKLOAD",
      description =
          "Lists these one by one: a family, a workload, both with * for any letters, all.")
  private List<String> words = List.of();

  ListCommand(Drivers drivers) {
    this.drivers = drivers;
  }

  @Override
  public void run() {
    PrintWriter out = spec.commandLine().getOut();
    if (words.isEmpty()) {
      families(out);
      systems(out);
    } else {
      Set<Workload> chosen = new LinkedHashSet<>();
      words.forEach(word -> chosen.addAll(Workloads.shipped().select(word)));
      chosen.forEach(w -> out.printf("%-36s %s%n", w.name(), describe(w)));
    }
    out.flush();
  }

  private static void families(PrintWriter out) {
    Map<String, List<Workload>> families = new LinkedHashMap<>();
    for (Workload workload : Workloads.shipped().all()) {
      families.computeIfAbsent(workload.family(), f -> new ArrayList<>()).add(workload);
    }
    out.println("Families of workloads (list FAMILY shows each of its workloads):");
    families.forEach(
        (family, of) -> {
          out.printf("  %-18s %s%n", family, of.get(0).description());
          out.printf("  %-18s %s%n", "", names(of));
        });
    out.println();
  }

  private static String names(List<Workload> of) {
    String shown =
        of.stream()
            .limit(MAX_NAMES)
            .map(w -> w.name().substring(w.name().indexOf('/') + 1))
            .collect(Collectors.joining(", "));
    int more = of.size() - MAX_NAMES;
    return more > 0 ? shown + " and " + more + " more" : shown;
  }

  private void systems(PrintWriter out) {
    out.println("Systems:");
    for (String name : drivers.names()) {
      Availability found = drivers.create(name, List.of()).availability();
      out.printf("  %-18s %s%s%n", name, found.present() ? "" : "absent: ", found.detail());
    }
  }

  private static String describe(Workload w) {
    if (w.idle() > 0) {
      return w.idle() + " idle connections";
    }
    if (w.calls() > 0) {
      return w.calls() + " calls in flight, " + w.payloadBytes() + " B";
    }
    DurableTopic durable = w.durable();
    if (durable != null && durable.operation() == DurableTopic.Operation.PUBLISH) {
      return durable.inFlight() + " unconfirmed events, " + w.payloadBytes() + " B";
    }
    if (durable != null && durable.operation() == DurableTopic.Operation.REPLAY) {
      return durable.events() + " stored events, " + w.payloadBytes() + " B";
    }
    return String.format(
        "%d -> %d, %d topic%s, %d B, %s, %s",
        w.publishers(),
        w.subscribers(),
        w.topics(),
        w.topics() == 1 ? "" : "s",
        w.payloadBytes(),
        w.rate() == 0 ? "as fast as possible" : w.rate() + "/s",
        w.window() == 0 ? "no window" : "window " + w.window());
  }
}
