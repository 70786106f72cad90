package io.eventbus.cli.console;

import java.io.Console;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Environment of a command: streams, variables, and the launcher of a bus. Everything that a test
 * wants to replace.
 */
public record CliContext(
    InputStream in,
    ResultOutput out,
    PrintWriter err,
    Map<String, String> variables,
    boolean terminal,
    BusLauncher launcher) {

  /** Property set by the launcher script, which can ask the shell about standard output alone. */
  private static final String TERMINAL_PROPERTY = "eventbus.terminal";

  public static CliContext ofProcess(BusLauncher launcher) {
    return new CliContext(
        System.in,
        // Not System.out: it hides a broken pipe.
        new ResultOutput(new FileOutputStream(FileDescriptor.out)),
        new PrintWriter(System.err, true, StandardCharsets.UTF_8),
        System.getenv(),
        terminalOfProcess(),
        launcher);
  }

  /**
   * Returns whether to use colour, which is for people, and not for those who say no
   * (https://no-color.org).
   */
  public boolean colour() {
    return terminal
        && variables.getOrDefault("NO_COLOR", "").isEmpty()
        && !variables.getOrDefault("TERM", "").equals("dumb");
  }

  private static boolean terminalOfProcess() {
    String told = System.getProperty(TERMINAL_PROPERTY);
    return told != null ? told.equals("true") : console() != null;
  }

  /** Returns the terminal of the process, null where its input or its output is none. */
  // The null is for JDK 17 to 21; isTerminal answers on those where it cannot be null.
  @SuppressWarnings("SystemConsoleNull")
  public static @Nullable Console console() {
    Console console = System.console();
    if (console == null) {
      return null;
    }
    try {
      // JDK 22 and newer may have a console without a terminal; older ones lack the method.
      return (boolean) Console.class.getMethod("isTerminal").invoke(console) ? console : null;
    } catch (ReflectiveOperationException e) {
      return console;
    }
  }
}
