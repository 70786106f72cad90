package io.eventbus.testing;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.CompositeArchRule;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The tables of packages and libraries in {@code docs/architecture.md}. */
public final class PackageTable {
  private static final Path FILE = Path.of("docs", "architecture.md");
  private static final String ROOT = "io.eventbus.";
  private static final Pattern LIBRARY = Pattern.compile("\\| ([A-Za-z0-9 ]+) \\| (`[^|]+`) \\|");
  private static final Pattern ROW =
      Pattern.compile("\\| (?:`([\\w/-]+)` )?\\| `([\\w.]+)` \\| .* \\| ([^|]*) \\|");
  private static final Pattern NAME = Pattern.compile("`([\\w.]+)`");
  private static final Pattern REMARK = Pattern.compile(" \\([^)]*\\)");

  /** Packages that every package may use. */
  private static final List<String> ALWAYS =
      List.of("java..", "javax.net.ssl", "org.jspecify.annotations", "org.slf4j..");

  private final Map<String, List<String>> libraries = new LinkedHashMap<>();
  private final Map<String, String> modules = new LinkedHashMap<>();
  private final Map<String, String> mayUse = new LinkedHashMap<>();

  private PackageTable(List<String> lines) {
    libraries.put("JDK", List.of());
    String module = "";
    for (String line : lines) {
      var library = LIBRARY.matcher(line);
      var row = ROW.matcher(line);
      if (library.matches()) {
        libraries.put(library.group(1), names(library.group(2)));
      } else if (row.matches()) {
        module = row.group(1) == null ? module : row.group(1);
        modules.put(row.group(2), module);
        mayUse.put(row.group(2), row.group(3));
      }
    }
  }

  /**
   * Checks that the classes of a module are in packages of its rows and depend on what these rows
   * name, and on no more.
   */
  public static void check(String module, JavaClasses all) throws IOException {
    PackageTable table = new PackageTable(Files.readAllLines(file()));
    List<String> packages = table.packages(module);
    List<ArchRule> rules = new ArrayList<>();
    rules.add(inside(packages));
    packages.forEach(owner -> rules.add(table.rule(owner)));
    CompositeArchRule.of(rules).as("the rows of " + module + " in " + FILE + " hold").check(all);
  }

  /** Returns the file, which a directory above the module's has. */
  private static Path file() {
    Path directory = Path.of("").toAbsolutePath();
    while (!Files.exists(directory.resolve(FILE))) {
      directory = directory.getParent();
      if (directory == null) {
        throw new AssertionError(
            "no " + FILE + " in " + Path.of("").toAbsolutePath() + " or above");
      }
    }
    return directory.resolve(FILE);
  }

  private static List<String> names(String cell) {
    return NAME.matcher(cell).results().map(name -> name.group(1)).toList();
  }

  /** Returns the packages of a module, in full. */
  private List<String> packages(String module) {
    List<String> packages =
        modules.entrySet().stream()
            .filter(row -> row.getValue().equals(module))
            .map(row -> ROOT + row.getKey())
            .toList();
    if (packages.isEmpty()) {
      throw new AssertionError("docs/architecture.md: no module \"" + module + "\"");
    }
    return packages;
  }

  private static ArchRule inside(List<String> packages) {
    return classes()
        .that()
        .resideOutsideOfPackage(PackageTable.class.getPackageName())
        .should()
        .resideInAnyPackage(packages.toArray(new String[0]))
        .as("every package has a row in docs/architecture.md");
  }

  private ArchRule rule(String owner) {
    List<String> allowed = new ArrayList<>(ALWAYS);
    allowed.add(owner);
    String cell = Objects.requireNonNull(mayUse.get(owner.substring(ROOT.length())));
    for (String entry : REMARK.matcher(cell).replaceAll("").split(", ", -1)) {
      allowed.addAll(resolve(entry));
    }
    return classes()
        .that()
        .resideInAPackage(owner)
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage(allowed.toArray(new String[0]))
        .as(owner + " depends on no more than its row in docs/architecture.md allows")
        .allowEmptyShould(false);
  }

  private List<String> resolve(String entry) {
    Stream<MatchResult> name = NAME.matcher(entry).results();
    String named = name.map(n -> n.group(1)).findFirst().orElse("");
    if (named.isEmpty()) {
      List<String> library = libraries.get(entry);
      if (library == null) {
        throw new AssertionError("docs/architecture.md: no library \"" + entry + "\"");
      }
      return library;
    }
    String plain = named.replaceFirst("\\.\\.$", "");
    String dots = named.substring(plain.length());
    if (mayUse.containsKey(plain)) {
      return List.of(ROOT + plain + dots);
    }
    if (mayUse.containsKey("server." + plain)) {
      return List.of(ROOT + "server." + plain + dots);
    }
    throw new AssertionError("docs/architecture.md: no package `" + named + "`");
  }
}
