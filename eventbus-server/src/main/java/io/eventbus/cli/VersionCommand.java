package io.eventbus.cli;

import io.eventbus.cli.console.CliContext;
import io.eventbus.server.config.BuildInfo;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;

/** Version of the running software. */
@Command(name = "version", description = "Shows the versions of the event bus and of Java.")
final class VersionCommand implements Runnable, IVersionProvider {
  private final CliContext context;

  VersionCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public void run() {
    for (String line : getVersion()) {
      context.out().line(line);
    }
  }

  @Override
  public String[] getVersion() {
    return new String[] {
      "eventbus " + BuildInfo.version(),
      "protocol eventbus.v1.avro",
      "java " + Runtime.version() + " (" + System.getProperty("java.vendor") + ")"
    };
  }
}
