package io.eventbus.cli.config;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.eventbus.cli.console.CliContext;
import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.cli.console.Text;
import io.eventbus.server.BusServer;
import io.eventbus.server.config.ConfigKey;
import io.eventbus.server.config.ConfigSection;
import io.eventbus.server.config.EffectiveConfig;
import io.eventbus.server.config.EffectiveConfig.Setting;
import io.eventbus.server.security.roles.Roles;
import io.eventbus.server.security.roles.RolesFile;
import io.eventbus.server.security.roles.RolesReview;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Check, listing or explanation of a bus's configuration without starting a bus. */
@Command(
    name = "config",
    description = "Checks, prints or explains a bus's configuration.",
    subcommands = {
      ConfigCommand.Check.class,
      ConfigCommand.Print.class,
      ConfigCommand.Reference.class
    })
public final class ConfigCommand implements Runnable {
  @Spec CommandSpec spec = CommandSpec.create();

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "check, print or reference is missing");
  }

  /** Check whether a bus would start with this configuration. */
  @Command(name = "check", description = "Checks the configuration and the files that it names.")
  static final class Check implements Runnable {
    @Mixin ConfigOptions options = new ConfigOptions();
    @Spec CommandSpec spec = CommandSpec.create();

    private final CliContext context;

    Check(CliContext context) {
      this.context = context;
    }

    @Override
    public void run() {
      EffectiveConfig effective = options.load(spec, context.variables());
      BusServer.check(effective.config());
      if (effective.config().auth().rolesFile() != null) {
        Roles roles = new RolesFile(effective.config().auth().rolesFile()).read();
        context.out().line(roles.fileName() + ": " + roles.summary());
        RolesReview.notes(roles).forEach(context.out()::line);
      }
      List<String> notes = new ArrayList<>(effective.warnings());
      notes.addAll(BusServer.review(effective.config()));
      notes.forEach(context.out()::line);
      context
          .out()
          .line(
              notes.isEmpty()
                  ? "The configuration is good."
                  : "A bus would start with the configuration, but see above.");
    }
  }

  /** List of every key, its value, and its origin. */
  @Command(name = "print", description = "Prints every key, its value and where it comes from.")
  static final class Print implements Runnable {
    @Mixin ConfigOptions options = new ConfigOptions();

    @Option(
        names = {"-o", "--output"},
        paramLabel = "FORMAT",
        description = "table, properties or json (default: ${DEFAULT-VALUE}).")
    Output output = Output.TABLE;

    @Spec CommandSpec spec = CommandSpec.create();

    private final CliContext context;

    Print(CliContext context) {
      this.context = context;
    }

    @Override
    public void run() {
      List<Setting> settings = options.load(spec, context.variables()).settings();
      switch (output) {
        case TABLE -> table(settings);
        case PROPERTIES -> settings.forEach(this::property);
        case JSON -> json(settings);
      }
    }

    private void table(List<Setting> settings) {
      int keys = settings.stream().mapToInt(s -> s.key().key().length()).max().orElse(0);
      int values = settings.stream().mapToInt(s -> s.value().length()).max().orElse(0);
      for (Setting s : settings) {
        String row = "%-" + keys + "s  %-" + Math.max(values, 1) + "s  %s";
        context.out().line(row.formatted(s.key().key(), s.value(), s.origin()));
      }
    }

    private void property(Setting s) {
      context.out().line("# " + s.origin());
      // A secret is not printed, and must not become three stars when the file is used.
      String line = s.key().key() + "=" + s.value().replace("\\", "\\\\");
      context.out().line(s.value().equals("***") ? "# " + line : line);
    }

    private void json(List<Setting> settings) {
      Map<String, Object> byKey = new LinkedHashMap<>();
      for (Setting s : settings) {
        byKey.put(s.key().key(), Map.of("value", s.value(), "origin", s.origin()));
      }
      try {
        context
            .out()
            .line(new ObjectMapper().writerWithDefaultPrettyPrinter().writeValueAsString(byKey));
      } catch (JsonProcessingException e) {
        throw new IllegalStateException(e);
      }
    }

    /** Format of the printed configuration. */
    enum Output {
      TABLE,
      PROPERTIES,
      JSON;

      /** Returns the name as the user types it. */
      @Override
      public String toString() {
        return name().toLowerCase(Locale.ROOT);
      }
    }
  }

  /** Explanation of the keys. */
  @Command(name = "reference", description = "Explains configuration keys.")
  static final class Reference implements Runnable {
    private static final Pattern LINK = Pattern.compile("\\[([^]]*)]\\([^)]*\\)");

    @Parameters(
        paramLabel = "KEY",
        arity = "0..1",
        description = "A key, or the beginning of keys, for example limits. (default: all keys).")
    String start = "";

    private final CliContext context;

    Reference(CliContext context) {
      this.context = context;
    }

    @Override
    public void run() {
      boolean found = false;
      for (ConfigSection section : ConfigSection.values()) {
        List<ConfigKey> keys =
            section.keys().stream().filter(key -> key.key().startsWith(start)).toList();
        if (!keys.isEmpty()) {
          context
              .out()
              .line((found ? "\n" : "") + section.title() + ": " + plain(section.summary()));
          keys.forEach(this::explain);
          found = true;
        }
      }
      if (!found) {
        throw new CliFailure(
            ExitCode.USAGE,
            "no key begins with \""
                + Text.printable(start)
                + "\" (expected: a known one; eventbus config print shows all)");
      }
    }

    private void explain(ConfigKey key) {
      String value = key.defaultText().isEmpty() ? "none" : key.defaultText();
      String flag = key.flag().isEmpty() ? "" : " (" + key.flag() + ")";
      context.out().line("");
      context.out().line(key.key() + flag + ": default " + value + "; " + plain(key.range()));
      context.out().line("    " + plain(key.reason()));
    }

    /** Returns Markdown without its marks. */
    private static String plain(String markdown) {
      return LINK.matcher(markdown).replaceAll("$1").replace("`", "");
    }
  }
}
