package io.eventbus.server.security.roles;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.TopicFilter;
import io.eventbus.server.config.ConfigException;
import io.eventbus.server.security.Action;
import io.eventbus.server.security.AuthenticationMethod;
import io.eventbus.server.security.Credentials;
import io.eventbus.server.security.FilterRules;
import io.eventbus.server.security.Identity;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.Size;

/** Roles files against a plain model, and files that are none. */
class RolesProperties {
  private static final List<String> TOPICS = topics();

  /** Rule as the model sees it. */
  private record Line(boolean allow, String pattern) {
    String text(String action) {
      return (allow ? "allow " : "deny ") + action + " " + pattern + "\n";
    }
  }

  private static List<String> topics() {
    List<String> all = new ArrayList<>();
    for (String first : List.of("a", "b", "u1", "$a")) {
      all.add(first);
      for (String second : List.of("a", "b", "u1", "$a")) {
        all.add(first + "." + second);
        all.add(first + "." + second + ".a");
      }
    }
    return all;
  }

  @Provide
  Arbitrary<List<Line>> lines() {
    Arbitrary<String> tokens = Arbitraries.of("a", "b", "*", "{sub}", "u1");
    Arbitrary<String> patterns =
        Combinators.combine(
                tokens.list().ofMinSize(1).ofMaxSize(3), Arbitraries.of(false, false, true))
            .as((some, tail) -> String.join(".", some) + (tail ? ".>" : ""));
    return Combinators.combine(Arbitraries.of(true, true, false), patterns)
        .as(Line::new)
        .list()
        .ofMaxSize(14);
  }

  @Provide
  Arbitrary<String> subjects() {
    return Arbitraries.of("u1", "a", "x.y", "*", "");
  }

  @Provide
  Arbitrary<TopicFilter> filters() {
    return Arbitraries.of("a", "*", ">", "a.b", "a.*", "*.b", "a.>", "*.>", "u1.*.a", "*.*.*")
        .map(TopicFilter::parse);
  }

  private static FilterRules rules(String file, String subject, Action action) {
    Identity identity =
        new Identity(
            "",
            subject,
            AuthenticationMethod.JWT,
            Set.of("r1", "r2"),
            Map.of(),
            Map.of(),
            Map.of(),
            null,
            null);
    return new RolePolicy(new RolesParser("f", "f").parse(file), false)
        .permissions(identity, new Credentials(null, "", false))
        .of(action);
  }

  /** Returns a file with three sections, in which the order does not matter. */
  private static String file(List<Line> lines, String action, Random random) {
    List<Line> some = new ArrayList<>(lines);
    Collections.shuffle(some, random);
    StringBuilder[] sections = {
      new StringBuilder("[role r1]\ninclude = base\n"),
      new StringBuilder("[role base]\n"),
      new StringBuilder("[everyone]\n")
    };
    for (Line line : some) {
      sections[random.nextInt(sections.length)].append(line.text(action));
      sections[random.nextInt(sections.length)].append(line.text(action));
    }
    return "" + sections[0] + sections[1] + sections[2] + "[role r2]\n";
  }

  private static boolean mayPublish(List<Line> lines, String subject, String topic) {
    boolean isToken = !subject.isEmpty() && !subject.contains(".") && !subject.equals("*");
    boolean allowed = false;
    for (Line line : lines) {
      boolean isVoid = line.pattern().contains("{") && !isToken;
      boolean matches =
          !isVoid && TopicFilter.parse(line.pattern().replace("{sub}", subject)).matches(topic);
      if (!line.allow() && (matches || isVoid)) {
        return false;
      }
      allowed |= line.allow() && matches;
    }
    return allowed;
  }

  @Property(tries = 400)
  void aTopicIsDecidedAsByALookAtEachLine(
      @ForAll("lines") List<Line> lines,
      @ForAll("subjects") String subject,
      @ForAll Random random) {
    FilterRules rules = rules(file(lines, "publish", random), subject, Action.PUBLISH);
    for (String topic : TOPICS) {
      boolean expected = mayPublish(lines, subject, topic);
      assertThat(rules.allows(topic)).as(topic).isEqualTo(expected);
      assertThat(rules.explain(topic).allowed()).as("explained %s", topic).isEqualTo(expected);
    }
  }

  @Property(tries = 400)
  void deniedSubscriptionsGetNothing(
      @ForAll("lines") List<Line> lines,
      @ForAll("subjects") String subject,
      @ForAll("filters") TopicFilter filter,
      @ForAll Random random) {
    FilterRules rules = rules(file(lines, "subscribe", random), subject, Action.SUBSCRIBE);
    boolean allowed = rules.allows(filter);
    assertThat(rules.explain(filter).allowed()).isEqualTo(allowed);
    for (String topic : TOPICS) {
      if (allowed && filter.matches(topic)) {
        assertThat(mayPublish(lines, subject, topic)).as(topic).isTrue();
      }
    }
  }

  @Provide
  Arbitrary<String> pieces() {
    return Arbitraries.oneOf(
        Arbitraries.of(
            "[role r]\n",
            "[role ",
            "]",
            "[default]\n",
            "[everyone]\n",
            "roles = r\n",
            "include = ",
            "r",
            "s,",
            "\n",
            "allow ",
            "deny ",
            "publish ",
            "observe ",
            "a.>\n",
            "$SYS.>\n",
            "{sub}",
            "{claim:",
            "}",
            "#",
            "=",
            " ",
            "\t",
            "\r",
            "\0",
            "\ud800",
            "\u202e"),
        Arbitraries.strings().ofMaxLength(5));
  }

  @Property(tries = 2000)
  void anyTextIsTakenOrRefusedWithItsLines(
      @ForAll @Size(max = 30) List<@From("pieces") String> pieces) {
    String text = String.join("", pieces);
    try {
      Roles roles = new RolesParser("f", "f").parse(text);
      RolesReview.notes(roles);
      rules(text, "u1", Action.PUBLISH);
    } catch (ConfigException e) {
      assertThat(e.problems()).isNotEmpty().allMatch(p -> p.matches("f:\\d+: .*"));
    }
  }
}
