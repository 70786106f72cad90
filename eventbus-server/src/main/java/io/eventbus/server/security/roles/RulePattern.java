package io.eventbus.server.security.roles;

import io.eventbus.protocol.Topic;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.server.security.Action;
import io.eventbus.server.security.Effect;
import io.eventbus.server.security.Rule;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Rule as it was written, which may hold templates. Immutable; any thread. */
final class RulePattern {
  private final Effect effect;
  private final Action action;
  private final String text;
  private final String source;

  /** Text before, between and behind the templates: always one more than there are. */
  private final List<String> literals = new ArrayList<>();

  private final List<String> templates = new ArrayList<>();
  private final @Nullable Rule whole;

  private RulePattern(Effect effect, Action action, String text, String source) {
    this.effect = effect;
    this.action = action;
    this.text = text;
    this.source = source;
    split();
    TopicFilter shape = shape();
    if (templates.isEmpty()) {
      whole = new Rule(effect, action, text, source, shape);
    } else {
      whole = null;
    }
    boolean isSystem = text.charAt(0) == Topic.SYSTEM;
    if (action == Action.OBSERVE && !isSystem) {
      throw new IllegalArgumentException(
          "observe "
              + text
              + " is about no topic (expected: a filter that starts with $, such as $SYS.>)");
    }
    if ((action == Action.PUBLISH || action == Action.SUBSCRIBE) && isSystem) {
      throw new IllegalArgumentException(
          action.name().toLowerCase(Locale.ROOT)
              + " "
              + text
              + " is about no topic (expected: observe, for topics that start with $)");
    }
    if (action == Action.JOURNAL && isSystem) {
      throw new IllegalArgumentException(
          "journal "
              + text
              + " is about no journal (expected: a filter that does not start with $)");
    }
    if (action.isAboutServices() && isSystem) {
      throw new IllegalArgumentException(
          action.name().toLowerCase(Locale.ROOT)
              + " "
              + text
              + " is about no service (expected: a filter that does not start with $)");
    }
  }

  /**
   * Reads a rule.
   *
   * @param source where it was written
   * @throws IllegalArgumentException if the pattern is wrong, with the reason
   */
  static RulePattern of(Effect effect, Action action, String text, String source) {
    return new RulePattern(effect, action, text, source);
  }

  private void split() {
    int from = 0;
    for (int open = text.indexOf('{'); open >= 0; open = text.indexOf('{', from)) {
      int close = text.indexOf('}', open);
      if (close < 0) {
        throw new IllegalArgumentException(
            "pattern " + text + " has a { without a } (expected: a template such as {sub})");
      }
      String name = text.substring(open + 1, close);
      String problem = TemplateValues.problem(name);
      if (problem != null) {
        throw new IllegalArgumentException("pattern " + text + " has the template " + problem);
      }
      literals.add(text.substring(from, open));
      templates.add(name);
      from = close + 1;
    }
    literals.add(text.substring(from));
    if (literals.stream().anyMatch(l -> l.indexOf('}') >= 0)) {
      throw new IllegalArgumentException(
          "pattern " + text + " has a } without a { (expected: a template such as {sub})");
    }
  }

  Effect effect() {
    return effect;
  }

  Action action() {
    return action;
  }

  /** Returns the names of the templates, without braces. */
  List<String> templates() {
    return templates;
  }

  boolean hasTemplates() {
    return whole == null;
  }

  /** Returns the rule and where it is written. */
  @Override
  public String toString() {
    return new Rule(effect, action, text, source, shape()).toString();
  }

  /** Returns the rule for one client. */
  Rule bind(TemplateValues values) {
    if (whole != null) {
      return whole;
    }
    StringBuilder bound = new StringBuilder(literals.get(0));
    for (int i = 0; i < templates.size(); i++) {
      String value = values.of(templates.get(i));
      if (value == null) {
        return withoutFilter("{" + templates.get(i) + "} has no value that is one token");
      }
      bound.append(value).append(literals.get(i + 1));
    }
    // Short values may still make a filter that is too long.
    String filter = bound.toString();
    return TopicFilter.problem(filter) == null
        ? new Rule(effect, action, text, source, TopicFilter.parse(filter))
        : withoutFilter("with the client's values it is too long");
  }

  private Rule withoutFilter(String why) {
    return new Rule(effect, action, text, source + ", " + why, null);
  }

  /**
   * Returns the filter with a token in place of each template, the same wherever the template is
   * the same: it makes rules of one client comparable.
   */
  TopicFilter shape() {
    StringBuilder shape = new StringBuilder(literals.get(0));
    for (int i = 0; i < templates.size(); i++) {
      shape.append('{').append(templates.get(i).replace('.', ':')).append('}');
      shape.append(literals.get(i + 1));
    }
    return TopicFilter.parse(shape.toString());
  }
}
