package io.eventbus.cli.config;

import io.eventbus.server.config.ConfigKey;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Layout;
import picocli.CommandLine.Model.OptionSpec;

/** List of the options of a command that takes a bus's configuration, by subject. */
final class FlagHelp {
  private static final String OWN = "Options:";
  private static final String CLIENTS = "The bus and its clients:";
  private static final String CLUSTER = "Cluster:";
  private static final String OPERATION = "Administration and log:";

  private FlagHelp() {}

  static String list(Help help) {
    Map<String, List<OptionSpec>> groups = new LinkedHashMap<>();
    for (String heading : List.of(OWN, CLIENTS, CLUSTER, OPERATION)) {
      groups.put(heading, new ArrayList<>());
    }
    List<OptionSpec> all = new ArrayList<>();
    for (OptionSpec option : help.commandSpec().options()) {
      if (!option.hidden()) {
        all.add(option);
        groups.computeIfAbsent(heading(option), h -> new ArrayList<>()).add(option);
      }
    }
    StringBuilder text = new StringBuilder();
    groups.forEach(
        (heading, options) -> {
          // All of them decide on the width of the columns.
          Layout layout = help.createDefaultLayout(all, List.of(), help.colorScheme());
          layout.addOptions(options, help.parameterLabelRenderer());
          text.append(System.lineSeparator()).append(heading).append(System.lineSeparator());
          text.append(layout);
        });
    return text.toString();
  }

  private static String heading(OptionSpec option) {
    for (ConfigKey key : ConfigKey.values()) {
      if (!key.flag().isEmpty() && key.flag().equals(option.longestName())) {
        String part = key.key().substring(0, key.key().indexOf('.'));
        return switch (part) {
          case "cluster", "federation", "balance" -> CLUSTER;
          case "admin", "log", "diagnostics" -> OPERATION;
          default -> CLIENTS;
        };
      }
    }
    return OWN;
  }
}
