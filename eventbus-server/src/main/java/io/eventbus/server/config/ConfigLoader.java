package io.eventbus.server.config;

import java.io.IOException;
import java.io.Reader;
import java.io.Serial;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;

/**
 * Collects values by key from a file, the environment and flags, and makes a {@link ServerConfig}.
 *
 * <p>A flag wins over the environment, the environment over the file, the file over the default,
 * whatever the order of the calls. All that is wrong is told at once, by {@link #load()}. Not safe
 * for use by several threads.
 */
public final class ConfigLoader {
  /** Variables with our prefix that are not configuration keys of the bus. */
  /** Where a value comes from that was given nowhere. */
  static final String DEFAULT = "default";

  private static final Set<String> OTHER_VARIABLES =
      Set.of(
          "EVENTBUS_ADMIN_URL",
          "EVENTBUS_CONFIG",
          "EVENTBUS_JAVA_OPTS",
          "EVENTBUS_TOKEN",
          "EVENTBUS_URL",
          "EVENTBUS_USER");

  private final Map<ConfigKey, Given> fromFile = new EnumMap<>(ConfigKey.class);
  private final Map<ConfigKey, Given> fromEnvironment = new EnumMap<>(ConfigKey.class);
  private final Map<ConfigKey, Given> fromFlags = new EnumMap<>(ConfigKey.class);
  private final List<String> problems = new ArrayList<>();

  /** Makes a loader that knows the defaults only. */
  public ConfigLoader() {}

  /**
   * Takes values from a properties file in UTF-8: {@code key = value} on each line, {@code #} for
   * comments. A relative path in it begins in the directory of the file.
   *
   * @param file the file
   * @return this loader
   */
  public ConfigLoader file(Path file) {
    try (Reader reader = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
      UniqueProperties properties = new UniqueProperties();
      properties.load(reader);
      for (String twice : properties.repeated) {
        problems.add(twice + ": given twice (expected: once), in file " + file);
      }
      for (Map.Entry<String, String> entry : properties.sorted().entrySet()) {
        put(fromFile, entry.getKey(), beside(file, entry), "file " + file);
      }
    } catch (NoSuchFileException e) {
      problems.add("file " + file + ": not found (expected: a properties file)");
    } catch (IOException | IllegalArgumentException e) {
      // Properties.load throws IllegalArgumentException for a malformed \\u escape.
      problems.add(
          "file " + file + ": cannot be read (expected: key = value lines in UTF-8): " + e);
    }
    return this;
  }

  /** A file is the same wherever the bus is started; so are the files that it names. */
  private static String beside(Path file, Map.Entry<String, String> entry) {
    String value = entry.getValue();
    boolean isPath =
        ConfigKey.find(entry.getKey()).map(key -> key.type() == ValueType.FILE).orElse(false);
    if (!isPath || value.isBlank()) {
      return value;
    }
    try {
      return file.toAbsolutePath().resolveSibling(value.strip()).toString();
    } catch (InvalidPathException e) {
      // Told where the value is read.
      return value;
    }
  }

  /**
   * Takes values from environment variables such as {@code EVENTBUS_LISTEN_PORT}. Variables without
   * the prefix {@code EVENTBUS_} are not looked at; an unknown one with it is refused.
   *
   * @param environment variables by name
   * @return this loader
   */
  public ConfigLoader environment(Map<String, String> environment) {
    Map<String, ConfigKey> byVariable = new TreeMap<>();
    for (ConfigKey key : ConfigKey.values()) {
      byVariable.put(key.variable(), key);
    }
    for (Map.Entry<String, String> entry : new TreeMap<>(environment).entrySet()) {
      String variable = entry.getKey();
      ConfigKey key = byVariable.get(variable);
      if (key != null) {
        fromEnvironment.put(key, new Given(entry.getValue(), "variable " + variable));
      } else if (variable.startsWith("EVENTBUS_")
          && !OTHER_VARIABLES.contains(variable)
          && !isServiceLink(variable)) {
        problems.add(
            "variable "
                + variable
                + ": unknown "
                + NearestName.expected(variable, byVariable.keySet()));
      }
    }
    return this;
  }

  /**
   * Sets one key from the command line.
   *
   * @param key dotted kebab-case name
   * @param value value as in a file
   * @return this loader
   */
  public ConfigLoader set(String key, String value) {
    put(fromFlags, key, value, "flag --set");
    return this;
  }

  /**
   * Sets one key from its own flag.
   *
   * @param key the key
   * @param value value as in a file
   * @return this loader
   */
  public ConfigLoader flag(ConfigKey key, String value) {
    fromFlags.put(key, new Given(value, "flag " + key.flag()));
    return this;
  }

  /**
   * Makes the configuration.
   *
   * @return the configuration and where each value comes from
   * @throws ConfigException if anything is wrong; names all of it
   */
  public EffectiveConfig load() {
    ConfigValues values = new ConfigValues(effective(), problems);
    ServerConfig config = values.build();
    if (config == null || !problems.isEmpty()) {
      throw new ConfigException(problems);
    }
    return new EffectiveConfig(config, values.settings());
  }

  private Map<ConfigKey, Given> effective() {
    Map<ConfigKey, Given> effective = new EnumMap<>(ConfigKey.class);
    for (ConfigKey key : ConfigKey.values()) {
      effective.put(key, new Given(key.defaultText(), DEFAULT));
    }
    effective.putAll(fromFile);
    effective.putAll(fromEnvironment);
    effective.putAll(fromFlags);
    return effective;
  }

  private void put(Map<ConfigKey, Given> values, String name, String value, String origin) {
    ConfigKey.find(name)
        .ifPresentOrElse(
            key -> values.put(key, new Given(value, origin)),
            () ->
                problems.add(
                    name + ": unknown key " + NearestName.expectedKey(name) + ", from " + origin));
  }

  /**
   * Kubernetes sets such variables for a service of the name "eventbus": {@code
   * EVENTBUS_SERVICE_HOST}, {@code EVENTBUS_PORT}, {@code EVENTBUS_PORT_8080_TCP_ADDR}.
   */
  private static boolean isServiceLink(String variable) {
    return variable.startsWith("EVENTBUS_SERVICE_")
        || variable.equals("EVENTBUS_PORT")
        || variable.startsWith("EVENTBUS_PORT_");
  }

  /** A value as it was written, and where. */
  record Given(String text, String origin) {
    /** Without the value, which may be a secret. */
    @Override
    public String toString() {
      return "Given[" + origin + "]";
    }
  }

  /** Remembers keys that a file gives twice; {@link Properties} would silently take the last. */
  private static final class UniqueProperties extends Properties {
    @Serial private static final long serialVersionUID = 1L;

    private final ArrayList<String> repeated = new ArrayList<>();

    @Override
    public synchronized Object put(Object key, Object value) {
      Object before = super.put(key, value);
      if (before != null) {
        repeated.add(key.toString());
      }
      return before;
    }

    Map<String, String> sorted() {
      Map<String, String> sorted = new TreeMap<>();
      forEach((key, value) -> sorted.put(key.toString(), value.toString()));
      return sorted;
    }
  }
}
