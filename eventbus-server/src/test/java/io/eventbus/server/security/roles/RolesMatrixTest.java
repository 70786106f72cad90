package io.eventbus.server.security.roles;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.TopicFilter;
import io.eventbus.server.security.Action;
import io.eventbus.server.security.AuthenticationMethod;
import io.eventbus.server.security.Credentials;
import io.eventbus.server.security.FilterRules;
import io.eventbus.server.security.Identity;
import io.eventbus.server.security.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Roles file, and for each action the lines that allow or deny it. */
class RolesMatrixTest {
  private static final String FILE =
      """
      [everyone]
      deny publish audit.>
      [role anonymous]
      allow subscribe public.>
      [role reader]
      allow subscribe market.>
      deny subscribe market.internal.>   # not even the name
      [role trader]
      include = reader
      allow publish user.{sub}.>
      allow publish desk-{claim:desk}.*
      allow publish app.{client}
      deny publish user.{sub}.root
      allow block market.eu.>
      deny block market.eu.slow
      allow observe $SYS.bus.>
      deny observe $SYS.bus.{account}.>
      [role fenced]
      allow publish >
      allow subscribe >
      allow block >
      allow observe $SYS.>
      deny publish {sub}.>
      deny subscribe secret.{sub}
      deny block {claim:desk}
      deny observe $SYS.{account}
      [role caller]
      allow request shop.>
      deny request shop.admin
      allow request desk.{claim:desk}
      allow serve worker.{sub}.*
      deny serve worker.u1.root
      [default]
      roles = reader
      """;

  /** Client, action, topic or filter, whether it is allowed, name in the verdict. */
  private static final String ROWS =
      """
      anonymous publish   public.a         no   no rule
      anonymous subscribe public.a         yes  :4
      anonymous subscribe market.eu        no   no rule
      anonymous block     public.a         no   no rule
      anonymous observe   $SYS.bus.b1      no   no rule
      noroles   subscribe market.eu        yes  :6
      noroles   publish   user.u1.a        no   no rule
      unknown   subscribe market.eu        no   no rule
      unknown   publish   audit.a          no   :2
      trader    publish   user.u1.inbox    yes  :10
      trader    publish   user.u1.root     no   :13
      trader    publish   user.u2.inbox    no   no rule
      trader    publish   user.u1          no   no rule
      trader    publish   desk-fx.orders   yes  :11
      trader    publish   app.browser      yes  :12
      trader    publish   audit.u1         no   :2
      trader    subscribe market.eu.*      yes  :6
      trader    subscribe market.>         no   :7
      trader    subscribe *.eu             no   a part
      trader    subscribe >                no   :7
      trader    subscribe user.u1.inbox    no   no rule
      trader    block     market.eu.fast   yes  :14
      trader    block     market.eu.*      no   :15
      trader    block     user.u1.a        no   no rule
      trader    observe   $SYS.bus.b1.x    yes  :16
      trader    observe   $SYS.bus.acme.x  no   :17
      trader    observe   $SYS.>           no   :17
      void      publish   user.u1.inbox    no   :13
      void      publish   desk-fx.orders   no   :13
      void      observe   $SYS.bus.b1.x    no   :17
      void      subscribe market.eu        yes  :6
      fenced    publish   a                yes  :19
      fenced    publish   u1.a             no   :23
      fenced    subscribe secret.u1        no   :24
      fenced    subscribe secret.u2        yes  :20
      fenced    subscribe secret.*         no   :24
      fenced    block     $SYS.a           no   no rule
      fenced    block     fx               no   :25
      fenced    observe   $SYS.acme        no   :26
      fenced    observe   $SYS.bus         yes  :22
      unfenced  publish   a                no   :23
      unfenced  subscribe a                no   :24
      unfenced  block     a                no   :25
      unfenced  observe   $SYS.bus         no   :26
      caller    request   shop.orders      yes  :28
      caller    request   shop.admin       no   :29
      caller    request   desk.fx          yes  :30
      caller    request   desk.eu          no   no rule
      caller    request   worker.u1.a      no   no rule
      caller    serve     worker.u1.a      yes  :31
      caller    serve     worker.u2.a      no   no rule
      caller    serve     worker.u1.root   no   :32
      caller    serve     shop.orders      no   no rule
      caller    publish   shop.orders      no   no rule
      trader    request   market.eu        no   no rule
      anonymous serve     public.a         no   no rule
      """;

  private static final Map<String, Identity> CLIENTS =
      Map.of(
          "anonymous", identity("", AuthenticationMethod.NONE, Set.of("anonymous"), "", Map.of()),
          "noroles", identity("u1", AuthenticationMethod.JWT, Set.of(), "acme", Map.of()),
          "unknown", identity("u1", AuthenticationMethod.JWT, Set.of("gone"), "acme", Map.of()),
          "trader", known("u1", "acme", "fx", "trader"),
          "void", known("a.b", "", "*", "trader"),
          "fenced", known("u1", "acme", "fx", "fenced"),
          "caller", known("u1", "acme", "fx", "caller"),
          "unfenced", known(">", "a b", "$SYS", "fenced"));

  private static Identity known(String subject, String account, String desk, String role) {
    return identity(subject, AuthenticationMethod.JWT, Set.of(role), account, Map.of("desk", desk));
  }

  private static Identity identity(
      String subject,
      AuthenticationMethod method,
      Set<String> roles,
      String account,
      Map<String, String> claims) {
    return new Identity(account, subject, method, roles, claims, Map.of(), Map.of(), null, null);
  }

  @Test
  void everyRowIsDecidedByTheRuleThatItNames() {
    RolePolicy policy =
        new RolePolicy(new RolesParser("roles.conf", "roles.conf").parse(FILE), false);
    List<String> wrong = new ArrayList<>();
    for (String row : ROWS.lines().toList()) {
      String[] cells = row.split("\\s+", 5);
      Action action = Action.valueOf(cells[1].toUpperCase(Locale.ROOT));
      FilterRules rules =
          policy
              .permissions(
                  Objects.requireNonNull(CLIENTS.get(cells[0])),
                  new Credentials(null, "browser", false))
              .of(action);
      boolean isTopic = action.isAboutNames();
      boolean allowed =
          isTopic ? rules.allows(cells[2]) : rules.allows(TopicFilter.parse(cells[2]));
      Verdict verdict =
          isTopic ? rules.explain(cells[2]) : rules.explain(TopicFilter.parse(cells[2]));
      String why = verdict.reason();
      boolean names =
          cells[4].startsWith(":")
              ? Pattern.compile("roles\\.conf" + cells[4] + "[,)]").matcher(why).find()
              : why.contains(cells[4]);
      if (allowed != cells[3].equals("yes") || verdict.allowed() != allowed || !names) {
        wrong.add(row + ": " + allowed + ", " + verdict);
      }
    }
    assertThat(wrong).isEmpty();
  }

  /** Each value that would make a rule be about other topics than it says. */
  @Test
  void aValueThatIsNoTokenMakesARuleVoid() {
    for (String value : List.of("", "a.b", ".", "*", ">", "a*", "$", "$SYS", "a$", "a b", "a\n")) {
      TemplateValues values = new TemplateValues(value, value, value, Map.of("x", value));
      for (String name : List.of("sub", "account", "client", "claim:x")) {
        assertThat(values.of(name)).as("%s=%s", name, value).isNull();
      }
    }
    TemplateValues good = new TemplateValues("ü-1", "a{b", "c", Map.of("x", "#"));
    assertThat(List.of("sub", "account", "client", "claim:x").stream().map(good::of))
        .containsExactly("ü-1", "a{b", "c", "#");
    assertThat(good.of("claim:y")).isNull();
  }

  @Test
  void valuesThatMakeAFilterTooLongMakeARuleVoid() {
    String file = "[role r]\nallow publish >\ndeny publish {sub}.{account}.x\n";
    RolePolicy policy = new RolePolicy(new RolesParser("f", "f").parse(file), false);
    String half = "h".repeat(130);
    FilterRules rules =
        policy
            .permissions(known(half, half, "", "r"), new Credentials(null, "", false))
            .of(Action.PUBLISH);
    assertThat(rules.allows("anything")).isFalse();
    assertThat(rules.explain("anything").reason()).contains("too long", "denies everything");
  }
}
