package io.eventbus.cli;

import io.eventbus.cli.config.ConfigOptions;
import io.eventbus.cli.console.BrokenPipe;
import io.eventbus.cli.console.CliContext;
import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.cli.console.Failures;
import io.eventbus.cli.console.ResultOutput;
import io.eventbus.cli.console.Text;
import io.eventbus.server.config.ConfigException;
import io.eventbus.server.config.LogConfig;
import io.eventbus.server.config.ValueType;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.lang.reflect.Constructor;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.function.Function;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.IFactory;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.TypeConversionException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Runs a command line in a context, and turns every failure into a line and a code. */
final class CommandRunner {
  private final CliContext context;
  private final EventBusCommand root = new EventBusCommand();
  private final CommandLine commandLine;

  CommandRunner(CliContext context) {
    this.context = context;
    this.commandLine = new CommandLine(root, factory(context));
    ConfigOptions.addFlags(spec("serve"));
    ConfigOptions.addFlags(spec("config", "check"));
    ConfigOptions.addFlags(spec("config", "print"));
    ConfigOptions.addFlags(spec("registry", "restore"));
    ConfigOptions.addFlags(spec("registry", "recover"));
    ExitCodeHelp.addTo(commandLine);
    commandLine
        .registerConverter(Duration.class, new DurationText())
        .registerConverter(double.class, new NumberText<>(Double::valueOf, "a number such as 0.5"))
        .registerConverter(int.class, new NumberText<>(Integer::valueOf, "a whole number"))
        .registerConverter(Integer.class, new NumberText<>(Integer::valueOf, "a whole number"))
        .registerConverter(long.class, new NumberText<>(Long::valueOf, "a whole number"))
        .registerConverter(Long.class, new NumberText<>(Long::valueOf, "a whole number"))
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setColorScheme(CommandLine.Help.defaultColorScheme(context.colour() ? Ansi.ON : Ansi.OFF))
        .setOut(new PrintWriter(new Results(context.out()), true, StandardCharsets.UTF_8))
        .setErr(context.err())
        .setExecutionStrategy(this::execute)
        .setParameterExceptionHandler(this::usage)
        .setExecutionExceptionHandler((e, command, parsed) -> failed(e));
  }

  int run(String... arguments) {
    return commandLine.execute(arguments);
  }

  private CommandLine.Model.CommandSpec spec(String... names) {
    CommandLine found = commandLine;
    for (String name : names) {
      found = found.getSubcommands().get(name);
      if (found == null) {
        throw new IllegalStateException("no command " + Arrays.toString(names));
      }
    }
    return found.getCommandSpec();
  }

  private int execute(ParseResult parsed) {
    LogSetup.configure(
        new LogConfig(
            root.common.debug ? LogConfig.Level.DEBUG : LogConfig.Level.WARN,
            LogConfig.Format.TEXT));
    return new CommandLine.RunLast().execute(parsed);
  }

  private int usage(ParameterException e, String[] arguments) {
    CommandLine command = e.getCommandLine();
    PrintWriter err = context.err();
    err.println("eventbus: " + message(e));
    UnmatchedArgumentException.printSuggestions(e, err);
    err.println("Try '" + command.getCommandSpec().qualifiedName() + " --help'.");
    err.flush();
    return ExitCode.USAGE;
  }

  /** Returns picocli's own message, but for an unknown command: it would speak of an index. */
  private static String message(ParameterException e) {
    CommandLine command = e.getCommandLine();
    if (e instanceof UnmatchedArgumentException unmatched
        && !unmatched.isUnknownOption()
        && !unmatched.getUnmatched().isEmpty()
        && !command.getSubcommands().isEmpty()) {
      return "\""
          + Text.printable(unmatched.getUnmatched().get(0))
          + "\" is no command (expected: "
          + String.join(", ", command.getSubcommands().keySet())
          + ")";
    }
    return String.valueOf(e.getMessage());
  }

  private int failed(Exception e) {
    if (e instanceof BrokenPipe) {
      return ExitCode.OK;
    }
    Throwable failure = Failures.unwrap(e);
    PrintWriter err = context.err();
    if (failure instanceof CliFailure || failure instanceof ConfigException) {
      String.valueOf(failure.getMessage()).lines().forEach(l -> err.println("eventbus: " + l));
    } else {
      err.println("eventbus: " + Failures.describe(failure));
    }
    if (root.common.debug) {
      failure.printStackTrace(err);
    }
    err.flush();
    return Failures.exitCode(failure);
  }

  /** Creates commands: those that ask for the context get it. */
  private static IFactory factory(CliContext context) {
    return new IFactory() {
      @Override
      public <K> K create(Class<K> type) throws Exception {
        for (Constructor<?> constructor : type.getDeclaredConstructors()) {
          if (Arrays.equals(constructor.getParameterTypes(), new Class<?>[] {CliContext.class})) {
            // Commands are for their own packages, as picocli itself makes them.
            constructor.setAccessible(true);
            return type.cast(constructor.newInstance(context));
          }
        }
        return CommandLine.defaultFactory().create(type);
      }
    };
  }

  /** Reads time spans as the configuration does. */
  private static final class DurationText implements ITypeConverter<Duration> {
    @Override
    public Duration convert(String value) {
      try {
        return Duration.ofMillis(ValueType.TIME.read(value));
      } catch (IllegalArgumentException | ArithmeticException e) {
        throw new TypeConversionException(
            "\"" + value + "\" (expected: a time span such as 500ms, 5s, 2m or PT5S)");
      }
    }
  }

  /** Converter of numbers, with the expected values in words for people. */
  private record NumberText<N extends Number>(Function<String, N> parser, String expected)
      implements ITypeConverter<N> {
    @Override
    public N convert(String value) {
      try {
        return parser.apply(value);
      } catch (NumberFormatException e) {
        throw new TypeConversionException("\"" + value + "\" (expected: " + expected + ")");
      }
    }
  }

  /** Stream that lets picocli print help and completion scripts as results. */
  private static final class Results extends OutputStream {
    private final ResultOutput out;

    Results(ResultOutput out) {
      this.out = out;
    }

    @Override
    public void write(int b) throws IOException {
      write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
      try {
        out.write(Arrays.copyOfRange(bytes, from, from + length));
      } catch (BrokenPipe e) {
        // picocli's writer is quiet about this kind.
        throw new IOException(e);
      }
    }
  }
}
