package io.eventbus.server.security.roles;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.eventbus.base.RateLimitedLog;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.server.config.ClientScope;
import io.eventbus.server.security.AccessChanges;
import io.eventbus.server.security.Action;
import io.eventbus.server.security.AuthenticationMethod;
import io.eventbus.server.security.Credentials;
import io.eventbus.server.security.FilterRules;
import io.eventbus.server.security.Identity;
import io.eventbus.server.security.PermissionPolicy;
import io.eventbus.server.security.Permissions;
import io.eventbus.server.security.ScopePolicy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Permissions of a client from the file. */
class RolePolicyTest {
  private static final Credentials REMOTE = new Credentials(null, "c", false);
  private static final String FILE =
      """
      [role reader]
      allow subscribe >
      [role writer]
      allow publish user.{sub}.>
      allow publish >
      deny publish internal.>
      """;

  private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
  private final RateLimitedLog log;

  RolePolicyTest() {
    Logger logger = new LoggerContext().getLogger("test");
    logger.addAppender(lines);
    lines.start();
    log = new RateLimitedLog(logger, () -> 0);
  }

  private static Roles parse(String text) {
    return new RolesParser("roles.conf", "roles.conf").parse(text);
  }

  private List<String> logged() {
    return lines.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
  }

  private static Identity identity(String subject, String... roles) {
    return token(subject, Map.of(), Map.of(), roles);
  }

  private static Identity token(
      String subject,
      Map<Action, List<String>> allow,
      Map<Action, List<String>> deny,
      String... roles) {
    return new Identity(
        "",
        subject,
        AuthenticationMethod.JWT,
        new LinkedHashSet<>(List.of(roles)),
        Map.of(),
        allow,
        deny,
        null,
        null);
  }

  @Test
  void clientsWhoseRulesAreTheSameShareThem() {
    RolePolicy policy = new RolePolicy(parse(FILE), false, log);
    Permissions first = policy.permissions(identity("u1", "reader"), REMOTE);
    assertThat(policy.permissions(identity("u2", "reader"), REMOTE))
        .as("no template asks for the subject")
        .isSameAs(first);
    Permissions both = policy.permissions(identity("u1", "reader", "writer"), REMOTE);
    assertThat(policy.permissions(identity("u1", "writer", "reader"), REMOTE)).isSameAs(both);
    assertThat(policy.permissions(identity("u2", "writer", "reader"), REMOTE)).isNotSameAs(both);
    assertThat(policy.permissions(identity("a.b", "writer"), REMOTE))
        .as("values that are no token are the same")
        .isSameAs(policy.permissions(identity("*", "writer"), REMOTE));
  }

  @Test
  void rememberedTokensAreBounded() {
    BoundedCache<Integer, Integer> cache = new BoundedCache<>(10);
    for (int i = 0; i < 100; i++) {
      cache.get(i, k -> k, v -> 3);
      cache.get(0, k -> k, v -> 3);
      assertThat(cache.size()).isLessThanOrEqualTo(3);
    }
    assertThat(cache.get(0, k -> -1, v -> 3)).as("it was asked for").isZero();
    assertThat(cache.get(50, k -> -1, v -> 100)).isEqualTo(-1);
    assertThat(cache.size()).as("one that is too large is not kept beside others").isEqualTo(1);
  }

  @Test
  void aRoleThatIsNotThereIsToldOnceAndAllowsNothing() {
    RolePolicy policy = new RolePolicy(parse(FILE), false, log);
    for (int i = 0; i < 3; i++) {
      Permissions got = policy.permissions(identity("u" + i, "tradr\n", "reader"), REMOTE);
      assertThat(got.of(Action.SUBSCRIBE).allows("a")).isTrue();
      assertThat(got.of(Action.PUBLISH).allows("a")).isFalse();
    }
    assertThat(logged())
        .containsExactly(
            "clients come with the role \"tradr?\", which roles.conf does not have: it allows"
                + " nothing");
  }

  /** Issuers give everybody roles of their own. */
  @Test
  void aTokenWithRolesOfOtherApplicationsOnlyHasTheDefaultOnes() {
    RolePolicy policy = new RolePolicy(parse(FILE + "[default]\nroles = reader"), true, log);
    Permissions got = policy.permissions(identity("u", "offline_access"), REMOTE);
    assertThat(got.of(Action.SUBSCRIBE).allows("a")).isTrue();
    assertThat(policy.permissions(identity("u", "offline_access", "writer"), REMOTE))
        .as("with one of the bus, only that")
        .isSameAs(policy.permissions(identity("u", "writer"), REMOTE));
    assertThat(logged()).isEmpty();
  }

  @Test
  void refusalsNameTheClientsRolesOnly() {
    RolePolicy policy = new RolePolicy(parse(FILE), false, log);
    assertThat(policy.permissions(identity("u", "writer", "reader"), REMOTE).of(Action.BLOCK))
        .extracting(FilterRules::origin)
        .isEqualTo("roles reader, writer");
    assertThat(policy.permissions(identity("u"), REMOTE).of(Action.BLOCK).origin())
        .isEqualTo("no role");
    assertThat(policy.permissions(identity("u", "reader", "gone"), REMOTE).of(Action.BLOCK))
        .extracting(FilterRules::origin)
        .isEqualTo("role reader");
  }

  @Test
  void rolesOfTheDefaultAreNotForAnonymousClients() {
    RolePolicy policy = new RolePolicy(parse(FILE + "[default]\nroles = reader"), false, log);
    Identity nobody = Identity.nameless(AuthenticationMethod.NONE, Set.of());
    assertThat(policy.permissions(nobody, REMOTE).of(Action.SUBSCRIBE).allows("a")).isFalse();
    assertThat(policy.permissions(identity("u"), REMOTE).of(Action.SUBSCRIBE).allows("a")).isTrue();
    assertThat(policy.permissions(identity("u", "writer"), REMOTE).of(Action.SUBSCRIBE).allows("a"))
        .isFalse();
  }

  @Test
  void aTokenAddsRulesAndNeverTakesOneAwayThatDenies() {
    PermissionPolicy policy = new TokenRules(new RolePolicy(parse(FILE), false, log));
    Identity plain = identity("u1", "writer");
    assertThat(policy.permissions(plain, REMOTE)).isSameAs(policy.permissions(plain, REMOTE));
    Permissions got =
        policy.permissions(
            token(
                "u1",
                Map.of(Action.SUBSCRIBE, List.of("own.{sub}.>"), Action.PUBLISH, List.of(">")),
                Map.of(Action.PUBLISH, List.of("user.u1.root")),
                "writer"),
            REMOTE);
    assertThat(got.of(Action.SUBSCRIBE).allows(TopicFilter.parse("own.u1.*"))).isTrue();
    assertThat(got.of(Action.SUBSCRIBE).allows(TopicFilter.parse("own.*.a"))).isFalse();
    assertThat(got.of(Action.PUBLISH).allows("internal.a")).isFalse();
    assertThat(got.of(Action.PUBLISH).allows("user.u1.root")).isFalse();
    assertThat(got.of(Action.PUBLISH).allows("user.u1.a")).isTrue();
    assertThat(got.of(Action.PUBLISH).explain("user.u1.root").reason())
        .isEqualTo("deny publish user.u1.root (token)");
  }

  @Test
  void aTokensRulesThatAreWrongAllowNothingOrDenyEverything() {
    PermissionPolicy policy = new TokenRules(new RolePolicy(parse(FILE), false, log));
    for (String wrong : List.of("", "a..b", "{", "{secret}", "$SYS.>", "a b", "\ud800")) {
      Map<Action, List<String>> rules = Map.of(Action.PUBLISH, List.of(wrong));
      FilterRules allows =
          policy.permissions(token("u", rules, Map.of()), REMOTE).of(Action.PUBLISH);
      assertThat(allows.allows("a")).as("allow '%s'", wrong).isFalse();
      FilterRules denies =
          policy.permissions(token("u", Map.of(), rules, "writer"), REMOTE).of(Action.PUBLISH);
      assertThat(denies.allows("a")).as("deny '%s'", wrong).isFalse();
      assertThat(denies.explain("a").reason()).contains("(token: ", "denies everything");
    }
    Map<Action, List<String>> many =
        Map.of(Action.PUBLISH, Collections.nCopies(TokenRules.MAX_RULES + 1, "a"));
    assertThat(
            policy.permissions(token("u", many, Map.of()), REMOTE).of(Action.PUBLISH).allows("a"))
        .isFalse();
  }

  /** Without a file everything is allowed, and a list in a token would otherwise mean nothing. */
  @Test
  void withoutAFileATokensListTakesThePlaceOfEverything() {
    PermissionPolicy policy =
        new TokenRules(new ScopePolicy(ClientScope.NOBODY, ClientScope.NOBODY));
    Permissions got =
        policy.permissions(
            token(
                "u",
                Map.of(Action.PUBLISH, List.of("a.>"), Action.OBSERVE, List.of("$SYS.bus.>")),
                Map.of(Action.SUBSCRIBE, List.of("secret.>"))),
            REMOTE);
    assertThat(got.of(Action.PUBLISH).allows("a.b")).isTrue();
    assertThat(got.of(Action.PUBLISH).allows("b")).isFalse();
    assertThat(got.of(Action.SUBSCRIBE).allowEverything()).isFalse();
    assertThat(got.of(Action.SUBSCRIBE).allows(TopicFilter.parse("a.>"))).isTrue();
    assertThat(got.of(Action.SUBSCRIBE).allows(TopicFilter.parse(">"))).isFalse();
    assertThat(got.of(Action.OBSERVE).allows(TopicFilter.parse("$SYS.bus.a"))).isTrue();
    assertThat(got.of(Action.BLOCK).allows("a")).isFalse();
    assertThat(policy.permissions(token("u", Map.of(Action.PUBLISH, List.of()), Map.of()), REMOTE))
        .satisfies(none -> assertThat(none.of(Action.PUBLISH).allows("a")).isFalse());
  }

  private boolean allows(RolePolicy policy) {
    return policy.permissions(identity("u", "reader"), REMOTE).of(Action.SUBSCRIBE).allows("a");
  }

  @Test
  void aChangedFileIsTakenWhenItStaysTheSameAndABadOneNever(@TempDir Path directory)
      throws Exception {
    Path path = Files.writeString(directory.resolve("roles.conf"), FILE);
    RolesFile file = new RolesFile(path);
    RolePolicy policy = new RolePolicy(file.read(), false, log);
    RolesWatch watch = new RolesWatch(file, policy, AccessChanges.NONE, log);
    watch.refresh();
    watch.refresh();
    assertThat(allows(policy)).isTrue();

    Files.writeString(path, "[role reader]\n");
    watch.refresh();
    assertThat(allows(policy)).as("half of it may be missing").isTrue();
    watch.refresh();
    assertThat(allows(policy)).isFalse();

    Files.writeString(path, FILE);
    watch.refresh();
    watch.refresh();
    assertThat(allows(policy)).isTrue();
    assertThat(logged()).isEmpty();

    Files.writeString(path, "[role reader]\nallow al >\n");
    for (int i = 0; i < 5; i++) {
      watch.refresh();
    }
    Files.delete(path);
    watch.refresh();
    assertThat(allows(policy)).isTrue();
    assertThat(logged()).hasSize(2);
    assertThat(logged().get(0))
        .contains("read before stay in force", "roles.conf:2: \"al\" is no action");
    assertThat(logged().get(1)).contains("is not there");

    Files.writeString(path, "[role reader]\n");
    watch.refresh();
    watch.refresh();
    assertThat(allows(policy)).isFalse();
  }

  @Test
  void aFileThatCannotBeReadIsRefused(@TempDir Path directory) throws Exception {
    assertThat(problem(directory)).contains("is no file");
    assertThat(problem(directory.resolve("gone"))).contains("is not there");
    Path path = directory.resolve("roles.conf");
    assertThat(problem(Files.write(path, new byte[] {'#', (byte) 0xff}))).contains("UTF-8");
    byte[] large = "#".repeat(RolesFile.MAX_BYTES + 1).getBytes(StandardCharsets.US_ASCII);
    assertThat(problem(Files.write(path, large))).contains("more than 1048576 bytes");
  }

  private static String problem(Path path) {
    try {
      new RolesFile(path).read();
      return "";
    } catch (IllegalArgumentException e) {
      return String.valueOf(e.getMessage());
    }
  }

  @Test
  void rulesThatChangeNothingAreFound() {
    Roles roles =
        parse(
            """
            [everyone]
            deny publish audit.>
            [role base]
            allow subscribe a.>
            allow subscribe a.>
            [role r]
            include = base
            allow publish audit.x
            allow subscribe a.b.*
            allow publish {sub}.x
            allow publish *.x
            allow observe $SYS.a
            deny subscribe a.c
            deny publish {sub}.>
            """);
    assertThat(RolesReview.notes(roles))
        .containsExactly(
            "allow subscribe a.> (role base, roles.conf:5) adds nothing to allow subscribe a.>"
                + " (role base, roles.conf:4)",
            "allow publish audit.x (role r, roles.conf:8) never applies, because of deny publish"
                + " audit.> (everyone, roles.conf:2)",
            "allow subscribe a.b.* (role r, roles.conf:9) adds nothing to allow subscribe a.>"
                + " (role base, roles.conf:4)",
            "allow publish {sub}.x (role r, roles.conf:10) never applies, because of deny publish"
                + " {sub}.> (role r, roles.conf:14)");
  }
}
