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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;

/**
 * Loader of a {@link ServerConfig} that collects values by key from a file, the environment and
 * flags.
 *
 * <p>A flag wins over the environment, the environment over the file, the file over the default,
 * whatever the order of the calls. {@link #load()} reports all problems at once. Not safe for use
 * by several threads.
 */
public final class ConfigLoader {
  /** Origin of a value that was not given. */
  static final String DEFAULT = "default";

  /** Variables with our prefix that are not configuration keys of the bus. */
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
  private final List<String> warnings = new ArrayList<>();

  /** Keys as they were written, each with its origin: under their names and under former ones. */
  private final Map<ConfigKey, String> named = new EnumMap<>(ConfigKey.class);

  private final Map<ConfigKey, String> formerlyNamed = new EnumMap<>(ConfigKey.class);

  /** Creates a loader that knows the defaults only. */
  public ConfigLoader() {}

  /**
   * Reads values from a properties file in UTF-8: {@code key = value} on each line, {@code #} for
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

  /**
   * Resolves a path beside the file: a file is the same wherever the bus is started, and so are the
   * files that it names.
   */
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
   * Reads values from environment variables such as {@code EVENTBUS_LISTEN_PORT}. Variables without
   * the prefix {@code EVENTBUS_} are ignored; an unknown one with it is refused.
   *
   * @param environment variables by name
   * @return this loader
   */
  public ConfigLoader environment(Map<String, String> environment) {
    Map<String, ConfigKey> byVariable = new TreeMap<>();
    for (ConfigKey key : ConfigKey.values()) {
      byVariable.put(key.variable(), key);
    }
    Map<String, ConfigKey> byFormerVariable = new HashMap<>();
    FormerKeys.BY_NAME.forEach((name, key) -> byFormerVariable.put(ConfigKey.variable(name), key));
    for (Map.Entry<String, String> entry : new TreeMap<>(environment).entrySet()) {
      String variable = entry.getKey();
      ConfigKey key = byVariable.get(variable);
      ConfigKey renamed = byFormerVariable.get(variable);
      Given given = new Given(entry.getValue(), "variable " + variable);
      if (key != null) {
        fromEnvironment.put(key, given);
        named.put(key, given.origin());
      } else if (renamed != null) {
        fromEnvironment.put(renamed, given);
        formerlyNamed.put(renamed, given.origin());
        warnings.add(renamed(given.origin(), renamed.variable()));
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
    Given given = new Given(value, "flag " + key.flag());
    fromFlags.put(key, given);
    named.put(key, given.origin());
    return this;
  }

  /**
   * Creates the configuration.
   *
   * @return the configuration, where each value comes from, and warnings
   * @throws ConfigException if anything is wrong; names all of it
   */
  public EffectiveConfig load() {
    for (Map.Entry<ConfigKey, String> former : formerlyNamed.entrySet()) {
      String name = named.get(former.getKey());
      if (name != null) {
        problems.add(
            "both "
                + name
                + ", and its former name "
                + former.getValue()
                + ", are given (expected: only the first)");
      }
    }
    ConfigValues values = new ConfigValues(effective(), problems);
    ServerConfig config = values.build();
    if (config == null || !problems.isEmpty()) {
      throw new ConfigException(problems);
    }
    return new EffectiveConfig(config, values.settings(), warnings);
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
    ConfigKey key = ConfigKey.find(name).orElse(null);
    ConfigKey renamed = FormerKeys.BY_NAME.get(name);
    String written = name + ", from " + origin;
    if (key != null) {
      values.put(key, new Given(value, origin));
      named.put(key, written);
    } else if (renamed != null) {
      values.put(renamed, new Given(value, origin));
      formerlyNamed.put(renamed, written);
      warnings.add(renamed(written, renamed.key()));
    } else {
      problems.add(name + ": unknown key " + NearestName.expectedKey(name) + ", from " + origin);
    }
  }

  private static String renamed(String written, String name) {
    return written
        + ": renamed; use "
        + name
        + ", because version "
        + FormerKeys.REMOVAL
        + " will refuse the former name";
  }

  /**
   * Returns whether Kubernetes sets such a variable for a service of the name "eventbus": {@code
   * EVENTBUS_SERVICE_HOST}, {@code EVENTBUS_PORT}, {@code EVENTBUS_PORT_8080_TCP_ADDR}.
   */
  private static boolean isServiceLink(String variable) {
    return variable.startsWith("EVENTBUS_SERVICE_")
        || variable.equals("EVENTBUS_PORT")
        || variable.startsWith("EVENTBUS_PORT_");
  }

  /** Value as it was written, and its origin. */
  record Given(String text, String origin) {
    /** Returns a text without the value, which may be a secret. */
    @Override
    public String toString() {
      return "Given[" + origin + "]";
    }
  }

  /**
   * Properties that record keys which a file gives twice; {@link Properties} would silently take
   * the last.
   */
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
