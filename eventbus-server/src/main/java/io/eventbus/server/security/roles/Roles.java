package io.eventbus.server.security.roles;

import io.eventbus.server.config.Quotas;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Roles of a file without errors. Immutable; any thread. */
public final class Roles {
  private final String fileName;
  private final Map<String, Role> byName;
  private final RuleBlock everyone;
  private final Set<String> defaults;
  private final Map<String, Quotas> ofAccounts;
  // With those of the roles that each includes.
  private final Map<String, Quotas> ofRoles = new HashMap<>();

  /** Creates the roles of a file. */
  Roles(
      String fileName,
      Map<String, Role> byName,
      RuleBlock everyone,
      Collection<String> defaults,
      Map<String, Quotas> ofAccounts) {
    this.fileName = fileName;
    this.byName = new LinkedHashMap<>(byName);
    this.everyone = everyone;
    this.defaults = new LinkedHashSet<>(defaults);
    this.ofAccounts = Map.copyOf(ofAccounts);
    byName.values().forEach(this::quotasOf);
  }

  /** Returns the name of the file. */
  public String fileName() {
    return fileName;
  }

  /** Returns the roles of authenticated clients that were given none. */
  Set<String> defaults() {
    return defaults;
  }

  /** Returns the rules of all clients. */
  RuleBlock everyone() {
    return everyone;
  }

  Collection<Role> all() {
    return byName.values();
  }

  /** Returns the roles that the file has. */
  public SortedSet<String> names() {
    return all().stream().map(Role::name).collect(Collectors.toCollection(TreeSet::new));
  }

  boolean has(String name) {
    return byName.containsKey(name);
  }

  /**
   * Returns all rules of some roles: theirs, those of the roles that they include, and those of all
   * clients. Unknown roles have none.
   */
  List<RuleBlock> blocksOf(Collection<String> names) {
    Set<Role> roles = new LinkedHashSet<>();
    names.forEach(name -> collect(byName.get(name), roles));
    List<RuleBlock> blocks = new ArrayList<>();
    roles.forEach(role -> blocks.add(role.rules()));
    blocks.add(everyone);
    return blocks;
  }

  /**
   * Returns the quotas of a role, which come before those of included roles. Roles include each
   * other in a bounded depth, and each is visited once.
   */
  private Quotas quotasOf(Role role) {
    Quotas known = ofRoles.get(role.name());
    if (known != null) {
      return known;
    }
    Quotas included =
        generous(
            role.includes().stream()
                .map(byName::get)
                .filter(Objects::nonNull)
                .map(this::quotasOf)
                .toList());
    Quotas all = role.quotas().over(included);
    ofRoles.put(role.name(), all);
    return all;
  }

  private static Quotas generous(List<Quotas> some) {
    return some.stream().reduce(Quotas.NONE, Quotas::or);
  }

  /** Returns the quotas of an identity with some roles. */
  Quotas quotasOf(Collection<String> names) {
    return generous(names.stream().map(name -> ofRoles.getOrDefault(name, Quotas.NONE)).toList());
  }

  /** Returns the quotas of an account. */
  Quotas quotasOfAccount(String account) {
    return ofAccounts.getOrDefault(account, Quotas.NONE);
  }

  /** Returns the same rules one by one; those of the first role come first. */
  List<RulePattern> rulesOf(Collection<String> names) {
    return blocksOf(names).stream().flatMap(block -> block.patterns().stream()).toList();
  }

  private void collect(@Nullable Role role, Set<Role> roles) {
    if (role != null && roles.add(role)) {
      role.includes().forEach(name -> collect(byName.get(name), roles));
    }
  }

  /** Returns a summary of the file. */
  public String summary() {
    int rules =
        everyone.patterns().size()
            + byName.values().stream().mapToInt(r -> r.rules().patterns().size()).sum();
    return byName.size() + " roles, " + rules + " rules";
  }
}
