package io.eventbus.server.security.roles;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The roles of a file that is right in all of its lines. Immutable; any thread. */
public final class Roles {
  private final String fileName;
  private final Map<String, Role> byName;
  private final RuleBlock everyone;
  private final Set<String> defaults;

  /**
   * Takes what was read.
   *
   * @param fileName for people
   * @param byName the roles; all that they include are among them
   * @param everyone rules of all clients
   * @param defaults roles of clients that were given none
   */
  Roles(
      String fileName, Map<String, Role> byName, RuleBlock everyone, Collection<String> defaults) {
    this.fileName = fileName;
    this.byName = new LinkedHashMap<>(byName);
    this.everyone = everyone;
    this.defaults = new LinkedHashSet<>(defaults);
  }

  /**
   * Returns the name of the file.
   *
   * @return without its directory
   */
  public String fileName() {
    return fileName;
  }

  /** Roles of clients that have proved who they are and were given none. */
  Set<String> defaults() {
    return defaults;
  }

  /** Rules of all clients. */
  RuleBlock everyone() {
    return everyone;
  }

  Collection<Role> all() {
    return byName.values();
  }

  boolean has(String name) {
    return byName.containsKey(name);
  }

  /**
   * Returns all rules that hold for a client with some roles: theirs, those of the roles that they
   * include, and those of all clients. Roles that there are not have none.
   */
  List<RuleBlock> blocksOf(Collection<String> names) {
    Set<Role> roles = new LinkedHashSet<>();
    names.forEach(name -> collect(byName.get(name), roles));
    List<RuleBlock> blocks = new ArrayList<>();
    roles.forEach(role -> blocks.add(role.rules()));
    blocks.add(everyone);
    return blocks;
  }

  /** The same rules one by one; those of the first role come first. */
  List<RulePattern> rulesOf(Collection<String> names) {
    return blocksOf(names).stream().flatMap(block -> block.patterns().stream()).toList();
  }

  private void collect(@Nullable Role role, Set<Role> roles) {
    if (role != null && roles.add(role)) {
      role.includes().forEach(name -> collect(byName.get(name), roles));
    }
  }

  /**
   * Says what is in the file.
   *
   * @return for operators
   */
  public String summary() {
    int rules =
        everyone.patterns().size()
            + byName.values().stream().mapToInt(r -> r.rules().patterns().size()).sum();
    return byName.size() + " roles, " + rules + " rules";
  }
}
