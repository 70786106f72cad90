package io.eventbus.loadtest;

import io.eventbus.loadtest.jmh.PerEventTable;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Unmatched;

/** Hands everything that follows to JMH. */
@Command(
    name = "jmh",
    description = {
      "Runs the JMH benchmarks; takes JMH's own arguments (-h shows them).",
      "Example: loadtest jmh CodecBenchmark -p batch=100 -prof gc"
    })
final class JmhCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();
  @Unmatched private List<String> arguments = new ArrayList<>();

  @Override
  public Integer call() throws Exception {
    try {
      spec.commandLine().getOut().println(PerEventTable.run(arguments));
      return LoadTestExitCode.OK;
    } catch (IllegalArgumentException e) {
      spec.commandLine().getErr().println(e.getMessage());
      return LoadTestExitCode.USAGE;
    }
  }
}
