package io.eventbus.cli.config;

import io.eventbus.server.config.ConfigKey;
import io.eventbus.server.config.ConfigLoader;
import io.eventbus.server.config.EffectiveConfig;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.UsageMessageSpec;
import picocli.CommandLine.Option;

/** Options with a bus's configuration. Keys with a flag of their own become options too. */
public final class ConfigOptions {
  @Option(
      names = {"-c", "--config"},
      paramLabel = "FILE",
      description = "Properties file with configuration keys (default: $EVENTBUS_CONFIG).")
  @Nullable Path file;

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description =
          "Sets a configuration key; may be repeated. 'eventbus config print' lists all keys.")
  Map<String, String> values = new LinkedHashMap<>();

  /** Returns whether the command line names a configuration. */
  public boolean isGiven() {
    return file != null || !values.isEmpty();
  }

  /** Gives a command the flags of the table. */
  public static void addFlags(CommandSpec spec) {
    for (ConfigKey key : ConfigKey.values()) {
      if (!key.flag().isEmpty()) {
        OptionSpec.Builder option =
            OptionSpec.builder(key.flag())
                .type(String.class)
                .paramLabel("VALUE")
                .description(description(key));
        if (key.range().equals("true or false")) {
          option.arity("0..1").fallbackValue("true");
        }
        spec.addOption(option.build());
      }
    }
    spec.usageMessage().abbreviateSynopsis(true);
    spec.usageMessage().sectionMap().put(UsageMessageSpec.SECTION_KEY_OPTION_LIST, FlagHelp::list);
  }

  /**
   * Loads the configuration.
   *
   * @throws io.eventbus.server.config.ConfigException if anything is wrong with it
   */
  public EffectiveConfig load(CommandSpec spec, Map<String, String> variables) {
    ConfigLoader loader = new ConfigLoader();
    String variable = variables.getOrDefault("EVENTBUS_CONFIG", "");
    if (file != null) {
      loader.file(file);
    } else if (!variable.isEmpty()) {
      loader.file(Path.of(variable));
    }
    loader.environment(variables);
    values.forEach(loader::set);
    for (ConfigKey key : ConfigKey.values()) {
      OptionSpec option = key.flag().isEmpty() ? null : spec.findOption(key.flag());
      if (option != null && option.getValue() instanceof String value) {
        loader.flag(key, value);
      }
    }
    return loader.load();
  }

  private static String description(ConfigKey key) {
    String text = key.reason().replace("`", "").replace("%", "%%");
    String fallback = key.defaultText().isEmpty() ? "none" : key.defaultText();
    return text + " Key " + key.key() + ", default " + fallback + ".";
  }
}
