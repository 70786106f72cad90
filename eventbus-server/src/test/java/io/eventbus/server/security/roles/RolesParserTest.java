package io.eventbus.server.security.roles;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.server.config.ConfigException;
import io.eventbus.server.config.Quota;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RolesParserTest {
  private static Roles parse(String text) {
    return new RolesParser("etc/roles.conf", "roles.conf").parse(text);
  }

  private static void refused(String text, String... parts) {
    assertThatThrownBy(() -> parse(text))
        .as(text)
        .isInstanceOf(ConfigException.class)
        .hasMessageContainingAll(parts);
  }

  @Test
  void whiteSpaceCommentsAndLineEndsDoNotMatter() {
    Roles roles =
        parse(
            """
            # all\r
              [ role  a-1.x ] # head\r
            \tallow\tpublish  a#b.{claim:x}  \r
            include=b , c
            [role b]
            [role c]
            [default]
            roles = b,c
            [everyone]
            """);
    assertThat(roles.summary()).isEqualTo("3 roles, 1 rules");
    assertThat(roles.rulesOf(List.of("a-1.x")))
        .extracting(RulePattern::toString)
        .containsExactly("allow publish a#b.{claim:x} (role a-1.x, roles.conf:3)");
    assertThat(roles.defaults()).containsExactly("b", "c");
    assertThat(parse("").summary()).isEqualTo("0 roles, 0 rules");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "allow publsh a | \"publsh\" is no action (expected: publish, subscribe, block, observe,"
            + " request, serve, broadcast, journal)",
        "allow publish | has 2 words (expected: allow ACTION FILTER)",
        "allow publish a b | has 4 words",
        "permit publish a | \"permit publish a\" (expected: allow or deny ACTION FILTER",
        "allow publish a..b | has an empty token",
        "allow publish a.>.b | only as the last",
        "allow publish user.{sub | has a { without a }",
        "allow publish user.sub} | has a } without a {",
        "allow publish user.{subject} | {subject} (expected: {sub}, {account}, {client} or",
        "allow publish user.{claim:} | {claim:} (expected:",
        "allow publish $SYS.a | (expected: observe",
        "deny subscribe $SYS.> | (expected: observe",
        "allow observe a.> | is about no topic (expected: a filter that starts with $",
        "allow observe > | is about no topic",
        "includes = a | \"includes\" = …",
        "roles = a | \"roles\" = …",
        "include = a b | a name of up to 64 letters",
        "include = a,, b | role \"\" (expected: a name",
        "include = nobody | there is no role nobody (expected: one that has a section",
        "include = r | role r includes itself: r -> r (expected: no cycle)",
        "[role r | has no ] (expected:",
        "[role] | \"[role]\" (expected: [role NAME], [account NAME], [default] or [everyone])",
        "[role r] | [role r] is at line 1 already",
        "[rolle x] | (expected: [role NAME]",
        "quota connections | (expected: allow or deny ACTION FILTER, include = NAME, …, or quota"
            + " NAME",
        "quota conections = 1 | \"conections\" is no quota of a role (expected: connections,",
        "quota journals = 1 | \"journals\" is no quota of a role",
        "allow journal $SYS.> | is about no journal (expected: a filter that does not start with $)",
        "quota connections = x | quota connections: \"x\" is none (expected: a whole number, 0 for"
            + " no",
        "quota connections = -1 | quota connections: \"-1\" is out of range",
        "quota publish-bytes = 2TiB | is out of range (expected: a size such as",
        "[account x y] | (expected: [role NAME], [account NAME]",
        "[role x/y] | a name of up to 64 letters"
      })
  void aBadLineIsToldWithItsNumberAndWhatWasExpected(String line, String expected) {
    refused("[role r]\n" + line + "\n", "etc/roles.conf:2: ", expected);
  }

  @Test
  void aSectionComesFirstAndTakesOnlyWhatItMeans() {
    refused("allow publish a", "roles.conf:1: \"allow publish a\" is in no section");
    refused("[default]\nallow publish a", "roles.conf:2", "(expected: roles = NAME, …)");
    refused("[everyone]\ninclude = a", "roles.conf:2", "(expected: allow or deny ACTION FILTER)");
    refused("[default]\n[default]", "roles.conf:2", "[default] is at line 1 already");
    refused("[default]\nroles = a", "roles.conf:2", "there is no role a");
    refused("[role r]\ninclude = r\ninclude = r", "roles.conf:3", "line 2 already");
  }

  @Test
  void allBadLinesAreToldUpToSome() {
    refused("[role r]\nx\ny\n", "roles.conf:2: \"x\"", "roles.conf:3: \"y\"");
    assertThatThrownBy(() -> parse("[role r]\n" + "x\n".repeat(1000)))
        .satisfies(e -> assertThat(((ConfigException) e).problems()).hasSize(20));
    // Lines below a wrong head belong nowhere.
    assertThatThrownBy(() -> parse("[rolle r]\nallow publish a\n"))
        .satisfies(e -> assertThat(((ConfigException) e).problems()).hasSize(1));
  }

  @Test
  void theContentOfAFileIsBounded() {
    StringBuilder roles = new StringBuilder();
    for (int i = 0; i < RolesParser.MAX_ROLES; i++) {
      roles.append("[role r").append(i).append("]\n");
    }
    assertThat(parse(roles.toString()).summary()).isEqualTo("1000 roles, 0 rules");
    refused(roles + "[role more]", "roles.conf:1001: there are more than 1000 roles");

    String rules = "[role r]\n" + "allow publish a\n".repeat(RolesParser.MAX_RULES);
    assertThat(parse(rules).summary()).isEqualTo("1 roles, 10000 rules");
    refused(rules + "deny publish b", "roles.conf:10002: there are more than 10000 rules");
  }

  private static String chain(int roles) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < roles - 1; i++) {
      text.append("[role r" + i + "]\ninclude = r" + (i + 1) + "\n");
    }
    return text + "[role r" + (roles - 1) + "]\n";
  }

  @Test
  void rolesIncludeEachOtherToADepthAndNeverInACircle() {
    assertThat(parse(chain(RoleIncludes.MAX_DEPTH + 1)).summary()).startsWith("17 roles");
    refused(chain(RoleIncludes.MAX_DEPTH + 2), "role r0 includes more than 16 roles in a row");
    refused(chain(1000), "role r0 includes more than 16 roles in a row");
    refused(
        "[role a]\ninclude = b\n[role b]\ninclude = c, a\n[role c]\n",
        "roles.conf:2",
        "role a includes itself: a -> b -> a");
  }

  @Test
  void rulesWithTemplatesAreFew() {
    String max = "allow publish a.{sub}\n".repeat(RoleIncludes.MAX_TEMPLATES);
    assertThat(parse("[role a]\n" + max + "[role b]\ninclude = a\n").summary())
        .startsWith("2 roles");
    refused(
        "[role a]\n" + max + "[role b]\ninclude = a\nallow publish {sub}\n",
        "role b has with all that it includes 101 rules with templates");
    refused("[everyone]\nallow publish {sub}\n[role a]\n" + max, "101 rules with templates");
  }

  @Test
  void sectionsOfAccountsHoldQuotasOnly() {
    refused("[account a]\nallow publish a", "roles.conf:2", "(expected: quota NAME = LIMIT)");
    refused("[account a]\ninclude = a", "roles.conf:2", "(expected: quota NAME = LIMIT)");
    refused("[account a]\n[account a]", "roles.conf:2: [account a] is at line 1 already");
    refused("[default]\nquota connections = 1", "roles.conf:2", "keys of the configuration");
    refused("[everyone]\nquota connections = 1", "roles.conf:2", "keys of the configuration");
    refused(
        "[role r]\nquota connections = 1\nquota connections = 1",
        "roles.conf:3: quota connections is in this section already");
    StringBuilder accounts = new StringBuilder();
    for (int i = 0; i < RolesParser.MAX_ACCOUNTS; i++) {
      accounts.append("[account a").append(i).append("]\n");
    }
    assertThat(parse(accounts.toString()).summary()).isEqualTo("0 roles, 0 rules");
    refused(accounts + "[account more]", "there are more than 1000 accounts");
  }

  @Test
  void theMostGenerousRoleCountsAndItsOwnBeforeWhatItIncludes() {
    Roles roles =
        parse(
            """
            [role base]
            quota connections = 1
            quota subscriptions = 10
            [role small]
            include = base
            quota connections = 2
            quota publish-bytes = 4KiB
            [role large]
            include = base
            quota publish-bytes = 1 MiB
            [role free]
            quota connections = 0
            [account acme]   # the same name as a role is something else
            quota connections = 50
            quota durable-bytes = 1GiB
            """);
    assertThat(quotas(roles, "small"))
        .isEqualTo(
            Map.of(Quota.CONNECTIONS, 2L, Quota.SUBSCRIPTIONS, 10L, Quota.PUBLISH_BYTES, 4096L));
    assertThat(quotas(roles, "small", "large"))
        .isEqualTo(
            Map.of(Quota.CONNECTIONS, 2L, Quota.SUBSCRIPTIONS, 10L, Quota.PUBLISH_BYTES, 1L << 20));
    assertThat(quotas(roles, "small", "free")).containsEntry(Quota.CONNECTIONS, 0L);
    assertThat(quotas(roles)).isEmpty();
    assertThat(roles.quotasOfAccount("acme").limits())
        .isEqualTo(Map.of(Quota.CONNECTIONS, 50L, Quota.DURABLE_BYTES, 1L << 30));
    assertThat(roles.quotasOfAccount("other").limits()).isEmpty();
  }

  private static Map<Quota, Long> quotas(Roles roles, String... names) {
    return roles.quotasOf(List.of(names)).limits();
  }
}
