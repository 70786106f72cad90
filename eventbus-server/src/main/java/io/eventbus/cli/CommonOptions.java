package io.eventbus.cli;

import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** Options of every command. */
final class CommonOptions {
  @Option(
      names = "--debug",
      scope = ScopeType.INHERIT,
      description = "Shows stack traces and logs at level debug.")
  boolean debug;
}
