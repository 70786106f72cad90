package io.eventbus.loadtest;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Unmatched;

/** Hands everything that follows to JMH. */
@Command(
    name = "jmh",
    description = {
      "Runs the JMH benchmarks; takes JMH's own arguments (-h shows them).",
      "Example: loadtest jmh PublishRead -prof gc"
    })
final class JmhCommand implements Runnable {
  @Unmatched private List<String> arguments = new ArrayList<>();

  @Override
  public void run() {
    try {
      org.openjdk.jmh.Main.main(arguments.toArray(new String[0]));
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }
}
