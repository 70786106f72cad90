package io.eventbus.server.security.roles;

import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/** Checks that roles include each other in a bounded way. Used once, by one thread. */
final class RoleIncludes {
  /** Maximum depth of roles that include each other. */
  static final int MAX_DEPTH = 16;

  /** Maximum of rules with templates, which are created anew for each client. */
  static final int MAX_TEMPLATES = 100;

  private final Map<String, Role> roles;
  private final RuleBlock everyone;
  private final Problems problems;
  private final Map<String, Integer> depths = new HashMap<>();

  /** Receiver of problems. */
  interface Problems {
    void add(int line, String what);
  }

  /** Creates a check. */
  RoleIncludes(Map<String, Role> roles, RuleBlock everyone, Problems problems) {
    this.roles = roles;
    this.everyone = everyone;
    this.problems = problems;
  }

  /** Reports the first problem. */
  void check() {
    for (Role role : roles.values()) {
      int depth = depth(role, new LinkedHashSet<>());
      if (depth < 0) {
        return;
      }
      if (depth > MAX_DEPTH) {
        problems.add(
            role.line(),
            "role "
                + role.name()
                + " includes more than "
                + MAX_DEPTH
                + " roles in a row (expected: at most "
                + MAX_DEPTH
                + ")");
        return;
      }
    }
    for (Role role : roles.values()) {
      int templates = everyone.withTemplates().size() + templates(role, new HashSet<>());
      if (templates > MAX_TEMPLATES) {
        problems.add(
            role.line(),
            "role "
                + role.name()
                + " has with all that it includes "
                + templates
                + " rules with templates (expected: at most "
                + MAX_TEMPLATES
                + ")");
        return;
      }
    }
  }

  /**
   * Returns how many roles are included in a row, or some number above the bound; negative if one
   * includes itself, which was reported.
   */
  private int depth(Role role, Set<String> path) {
    Integer known = depths.get(role.name());
    if (known != null) {
      return known;
    }
    if (!path.add(role.name())) {
      problems.add(
          role.line(),
          "role "
              + role.name()
              + " includes itself: "
              + String.join(" -> ", path)
              + " -> "
              + role.name()
              + " (expected: no cycle)");
      return -1;
    }
    int depth = 0;
    // Deeper inclusion is refused anyway, and would be a deep recursion.
    if (path.size() <= MAX_DEPTH + 1) {
      for (String name : role.includes()) {
        Role included = roles.get(name);
        int below = included == null ? 0 : depth(included, path);
        if (below < 0) {
          return below;
        }
        depth = Math.max(depth, 1 + below);
      }
    }
    path.remove(role.name());
    depths.put(role.name(), depth);
    return depth;
  }

  private int templates(Role role, Set<String> seen) {
    if (!seen.add(role.name())) {
      return 0;
    }
    int count = role.rules().withTemplates().size();
    for (String name : role.includes()) {
      Role included = roles.get(name);
      count += included == null ? 0 : templates(included, seen);
    }
    return count;
  }
}
