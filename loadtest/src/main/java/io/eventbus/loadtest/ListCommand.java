package io.eventbus.loadtest;

import io.eventbus.loadtest.driver.Availability;
import io.eventbus.loadtest.workload.Workload;
import io.eventbus.loadtest.workload.Workloads;
import java.io.PrintWriter;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Shows what can be run, and against what. */
@Command(
    name = "list",
    description = "Lists the workloads, and the systems with what is absent.",
    mixinStandardHelpOptions = true)
final class ListCommand implements Runnable {
  private final Drivers drivers;
  @Spec private CommandSpec spec = CommandSpec.create();

  ListCommand(Drivers drivers) {
    this.drivers = drivers;
  }

  @Override
  public void run() {
    PrintWriter out = spec.commandLine().getOut();
    out.println("Workloads:");
    for (Workload workload : Workloads.shipped().all()) {
      out.printf("  %-36s %s%n", workload.name(), describe(workload));
    }
    out.println();
    out.println("Systems:");
    for (String name : drivers.names()) {
      Availability found = drivers.create(name, List.of()).availability();
      out.printf("  %-12s %s%s%n", name, found.present() ? "" : "absent: ", found.detail());
    }
    out.flush();
  }

  private static String describe(Workload w) {
    if (w.idle() > 0) {
      return w.idle() + " idle connections";
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
