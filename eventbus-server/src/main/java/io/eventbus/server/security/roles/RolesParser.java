package io.eventbus.server.security.roles;

import io.eventbus.base.PrintableText;
import io.eventbus.server.config.ConfigException;
import io.eventbus.server.config.Quota;
import io.eventbus.server.config.Quotas;
import io.eventbus.server.security.Action;
import io.eventbus.server.security.Effect;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads a roles file: sections with a head in brackets, and in them one rule or setting a line.
 *
 * <pre>
 * [role trader]
 * include = reader
 * allow publish user.{sub}.&gt;
 * quota publish-events = 1000
 * deny subscribe market.internal.&gt;
 *
 * [default]
 * roles = reader
 *
 * [everyone]
 * deny publish audit.&gt;
 *
 * [account acme]
 * quota connections = 500
 * </pre>
 *
 * <p>Used once, by one thread.
 */
final class RolesParser {
  static final int MAX_ROLES = 1_000;
  static final int MAX_RULES = 10_000;
  static final int MAX_ACCOUNTS = 1_000;

  private static final int MAX_PROBLEMS = 20;
  private static final int MAX_SHOWN = 80;
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,63}");
  private static final String DEFAULT = "default";
  private static final String EVERYONE = "everyone";
  private static final String QUOTA = "quota";

  private final String file;
  private final String fileName;
  private final List<String> problems = new ArrayList<>();
  private final Map<String, Section> roles = new LinkedHashMap<>();
  private final Map<String, Section> accounts = new LinkedHashMap<>();
  private @Nullable Section defaults;
  private @Nullable Section everyone;
  private @Nullable Section current;
  private boolean skipping;
  private int rules;

  /** Section as far as it was read. */
  private static final class Section {
    final String name;
    final int line;
    final List<RulePattern> rules = new ArrayList<>();
    final Map<Quota, Long> quotas = new EnumMap<>(Quota.class);
    List<String> names = List.of();
    int namesLine;

    Section(String name, int line) {
      this.name = name;
      this.line = line;
    }
  }

  /** Creates a parser. */
  RolesParser(String file, String fileName) {
    this.file = file;
    this.fileName = fileName;
  }

  /**
   * Parses the text of a file.
   *
   * @throws ConfigException with all wrong lines
   */
  Roles parse(String text) {
    int number = 0;
    for (String line : (Iterable<String>) text.lines()::iterator) {
      number++;
      try {
        read(withoutComment(line).strip(), number);
      } catch (IllegalArgumentException e) {
        problem(number, String.valueOf(e.getMessage()));
      }
      if (problems.size() >= MAX_PROBLEMS) {
        break;
      }
    }
    if (problems.isEmpty()) {
      checkNames();
    }
    Map<String, Role> byName = new LinkedHashMap<>();
    for (Section s : roles.values()) {
      int line = s.namesLine > 0 ? s.namesLine : s.line;
      byName.put(
          s.name,
          new Role(
              s.name, line, List.copyOf(s.names), new RuleBlock(s.rules), new Quotas(s.quotas)));
    }
    RuleBlock ofAll = everyone == null ? RuleBlock.EMPTY : new RuleBlock(everyone.rules);
    if (problems.isEmpty()) {
      new RoleIncludes(byName, ofAll, this::problem).check();
    }
    if (!problems.isEmpty()) {
      throw new ConfigException(problems);
    }
    Map<String, Quotas> ofAccounts = new HashMap<>();
    accounts.forEach((name, section) -> ofAccounts.put(name, new Quotas(section.quotas)));
    return new Roles(
        fileName, byName, ofAll, defaults == null ? List.of() : defaults.names, ofAccounts);
  }

  private void problem(int line, String what) {
    problems.add(file + ":" + line + ": " + what);
  }

  /**
   * Returns a line without its comment, which begins with a # at the start of a line or behind
   * white space.
   */
  private static String withoutComment(String line) {
    for (int at = line.indexOf('#'); at >= 0; at = line.indexOf('#', at + 1)) {
      if (at == 0 || Character.isWhitespace(line.charAt(at - 1))) {
        return line.substring(0, at);
      }
    }
    return line;
  }

  private void read(String line, int number) {
    if (line.isEmpty()) {
      return;
    }
    if (line.startsWith("[")) {
      // Lines after a wrong head would be wrong as well, and are not reported.
      skipping = true;
      current = head(line, number);
      skipping = false;
      return;
    }
    Section section = current;
    if (skipping) {
      return;
    }
    if (section == null) {
      throw new IllegalArgumentException(
          shown(line) + " is in no section (expected: [role NAME], [default] or [everyone] first)");
    }
    int equals = line.indexOf('=');
    String first = words(line)[0];
    if (first.equals("allow") || first.equals("deny")) {
      rule(section, line, number);
    } else if (first.equals(QUOTA)) {
      quota(section, line);
    } else if (equals >= 0) {
      names(section, line.substring(0, equals).strip(), line.substring(equals + 1), number);
    } else {
      throw new IllegalArgumentException(shown(line) + " (expected: " + expected(section) + ")");
    }
  }

  private static String[] words(String line) {
    return line.split("\\s+", -1);
  }

  private String expected(Section section) {
    if (section == defaults) {
      return "roles = NAME, …";
    }
    if (section == everyone) {
      return "allow or deny ACTION FILTER";
    }
    return isAccount(section)
        ? "quota NAME = LIMIT"
        : "allow or deny ACTION FILTER, include = NAME, …, or quota NAME = LIMIT";
  }

  private Section head(String line, int number) {
    if (!line.endsWith("]")) {
      throw new IllegalArgumentException(shown(line) + " has no ] (expected: such as [role NAME])");
    }
    String[] words = words(line.substring(1, line.length() - 1).strip());
    if (words.length == 1 && words[0].equals(DEFAULT)) {
      unique(defaults, DEFAULT);
      defaults = new Section(DEFAULT, number);
      return defaults;
    }
    if (words.length == 1 && words[0].equals(EVERYONE)) {
      unique(everyone, EVERYONE);
      everyone = new Section(EVERYONE, number);
      return everyone;
    }
    if (words.length != 2 || !(words[0].equals("role") || words[0].equals("account"))) {
      throw new IllegalArgumentException(
          shown(line) + " (expected: [role NAME], [account NAME], [default] or [everyone])");
    }
    String name = name(words[1]);
    if (words[0].equals("account")) {
      return account(name, number);
    }
    unique(roles.get(name), "role " + name);
    if (roles.size() >= MAX_ROLES) {
      throw new IllegalArgumentException(
          "there are more than " + MAX_ROLES + " roles (expected: at most " + MAX_ROLES + ")");
    }
    Section role = new Section(name, number);
    roles.put(name, role);
    return role;
  }

  private Section account(String name, int number) {
    unique(accounts.get(name), "account " + name);
    if (accounts.size() >= MAX_ACCOUNTS) {
      throw new IllegalArgumentException(
          "there are more than "
              + MAX_ACCOUNTS
              + " accounts (expected: at most "
              + MAX_ACCOUNTS
              + ")");
    }
    Section account = new Section(name, number);
    accounts.put(name, account);
    return account;
  }

  private boolean isAccount(Section section) {
    return accounts.get(section.name) == section;
  }

  private void quota(Section section, String line) {
    int equals = line.indexOf('=');
    if (section == defaults || section == everyone || equals < 0) {
      throw new IllegalArgumentException(
          shown(line)
              + " (expected: "
              + expected(section)
              + (equals < 0 ? ")" : "; quotas of all clients are keys of the configuration)"));
    }
    String key = line.substring(QUOTA.length(), equals).strip();
    Quota quota =
        Quota.find(key, isAccount(section))
            .orElseThrow(
                () ->
                    new IllegalArgumentException(
                        shown(key)
                            + " is no quota of "
                            + (isAccount(section) ? "an account" : "a role")
                            + " (expected: "
                            + Quota.keys(isAccount(section))
                            + ")"));
    if (section.quotas.containsKey(quota)) {
      throw new IllegalArgumentException(
          "quota " + key + " is in this section already (expected: once)");
    }
    String value = line.substring(equals + 1).strip();
    try {
      section.quotas.put(quota, quota.read(value));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "quota " + key + ": " + shown(value) + " " + e.getMessage(), e);
    }
  }

  private static void unique(@Nullable Section earlier, String name) {
    if (earlier != null) {
      throw new IllegalArgumentException(
          "[" + name + "] is at line " + earlier.line + " already (expected: once)");
    }
  }

  private static String name(String text) {
    if (!NAME.matcher(text).matches()) {
      throw new IllegalArgumentException(
          "role "
              + shown(text)
              + " (expected: a name of up to 64 letters, digits, '.', '_' and '-')");
    }
    return text;
  }

  private void rule(Section section, String line, int number) {
    if (section == defaults || isAccount(section)) {
      throw new IllegalArgumentException(shown(line) + " (expected: " + expected(section) + ")");
    }
    String[] words = words(line);
    if (words.length != 3) {
      throw new IllegalArgumentException(
          shown(line)
              + " has "
              + words.length
              + " words (expected: "
              + words[0]
              + " ACTION FILTER)");
    }
    if (rules >= MAX_RULES) {
      throw new IllegalArgumentException(
          "there are more than " + MAX_RULES + " rules (expected: at most " + MAX_RULES + ")");
    }
    rules++;
    String owner = section == everyone ? EVERYONE : "role " + section.name;
    section.rules.add(
        RulePattern.of(
            words[0].equals("allow") ? Effect.ALLOW : Effect.DENY,
            action(words[1]),
            words[2],
            owner + ", " + fileName + ":" + number));
  }

  private static Action action(String name) {
    for (Action action : Action.values()) {
      if (name.equals(nameOf(action))) {
        return action;
      }
    }
    throw new IllegalArgumentException(
        shown(name)
            + " is no action (expected: "
            + String.join(", ", Arrays.stream(Action.values()).map(RolesParser::nameOf).toList())
            + ")");
  }

  private static String nameOf(Action action) {
    return action.name().toLowerCase(Locale.ROOT);
  }

  private void names(Section section, String key, String list, int number) {
    String expected =
        section == defaults ? "roles" : section == everyone || isAccount(section) ? "" : "include";
    if (!key.equals(expected)) {
      throw new IllegalArgumentException(shown(key) + " = … (expected: " + expected(section) + ")");
    }
    if (section.namesLine > 0) {
      throw new IllegalArgumentException(
          key + " is at line " + section.namesLine + " already (expected: once, with all names)");
    }
    List<String> names = new ArrayList<>();
    for (String name : list.split(",", -1)) {
      names.add(name(name.strip()));
    }
    section.names = names;
    section.namesLine = number;
  }

  private void checkNames() {
    for (Section section : roles.values()) {
      checkNames(section);
    }
    if (defaults != null) {
      checkNames(defaults);
    }
  }

  private void checkNames(Section section) {
    for (String name : section.names) {
      if (!roles.containsKey(name)) {
        problem(
            section.namesLine,
            "there is no role " + name + " (expected: one that has a section in this file)");
      }
    }
  }

  /** Returns text from outside for a message: short, and without what a terminal would act on. */
  static String shown(String text) {
    return '"' + printable(text) + '"';
  }

  /** Returns a text like {@link #shown}, without quotes. */
  static String printable(String text) {
    return PrintableText.of(text, MAX_SHOWN);
  }
}
