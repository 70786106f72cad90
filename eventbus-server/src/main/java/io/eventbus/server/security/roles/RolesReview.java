package io.eventbus.server.security.roles;

import io.eventbus.protocol.TopicFilter;
import io.eventbus.server.security.Effect;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Finds rules that change nothing, and so are probably not what was meant. */
public final class RolesReview {
  private RolesReview() {}

  /**
   * Reviews each role, with all that it includes and with the rules of all clients.
   *
   * @return a line for each rule that allows nothing that is not denied, and for each that allows
   *     nothing that another one of the role does not allow
   */
  public static List<String> notes(Roles roles) {
    Set<String> notes = new LinkedHashSet<>();
    List<RulePattern> ofAll = roles.everyone().patterns();
    review(ofAll.size(), ofAll, notes);
    for (Role role : roles.all()) {
      review(role.rules().patterns().size(), roles.rulesOf(List.of(role.name())), notes);
    }
    return new ArrayList<>(notes);
  }

  /** Reviews the first rules of {@code together}. */
  private static void review(int own, List<RulePattern> together, Set<String> notes) {
    List<TopicFilter> shapes = together.stream().map(RulePattern::shape).toList();
    for (int at = 0; at < own; at++) {
      if (!denies(together.get(at))) {
        RulePattern cover = cover(at, together, shapes);
        if (cover != null) {
          String does = denies(cover) ? " never applies, because of " : " adds nothing to ";
          notes.add(together.get(at) + does + cover);
        }
      }
    }
  }

  /** Returns a rule that denies or allows all that this one allows; preferably one that denies. */
  private static @Nullable RulePattern cover(
      int at, List<RulePattern> together, List<TopicFilter> shapes) {
    RulePattern rule = together.get(at);
    RulePattern cover = null;
    for (int i = 0; i < together.size(); i++) {
      RulePattern other = together.get(i);
      if (i == at || other.action() != rule.action() || !shapes.get(i).contains(shapes.get(at))) {
        continue;
      }
      if (denies(other)) {
        return other;
      }
      // Of two equal rules the second one adds nothing.
      if (cover == null && (i < at || !shapes.get(i).equals(shapes.get(at)))) {
        cover = other;
      }
    }
    return cover;
  }

  private static boolean denies(RulePattern rule) {
    return rule.effect() == Effect.DENY;
  }
}
