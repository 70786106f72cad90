package io.eventbus.server.security;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.protocol.TopicFilter;
import io.eventbus.server.config.ClientScope;
import java.util.Locale;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ScopePolicyTest {
  private static final TopicFilter PLAIN = TopicFilter.parse("a.>");
  private static final TopicFilter SYSTEM = TopicFilter.parse("$SYS.>");

  private static Permissions of(
      ClientScope observe, ClientScope block, AuthenticationMethod method, boolean local) {
    return new ScopePolicy(observe, block)
        .permissions(Identity.nameless(method, Set.of()), new Credentials("s3cret", "a", local));
  }

  @ParameterizedTest
  @CsvSource({
    // Scope, authentication of the client, whether it is local, whether it may.
    "EVERYONE, NONE, false, true",
    "LOOPBACK, NONE, false, false",
    "LOOPBACK, NONE, true, true",
    "LOOPBACK, SHARED_TOKEN, false, true",
    "LOOPBACK, JWT, false, true",
    "NOBODY, SHARED_TOKEN, true, false"
  })
  void clientsThatMayStallPublishers(
      ClientScope scope, AuthenticationMethod method, boolean local, boolean may) {
    FilterRules rules = of(ClientScope.NOBODY, scope, method, local).of(Action.BLOCK);
    assertThat(rules.allows(PLAIN)).isEqualTo(may);
    assertThat(rules.origin()).isEqualTo("auth.block=" + scope.name().toLowerCase(Locale.ROOT));
  }

  /** A token does not make a client one of this machine. */
  @ParameterizedTest
  @CsvSource({
    "EVERYONE, false, true",
    "LOOPBACK, true, true",
    "LOOPBACK, false, false",
    "NOBODY, true, false"
  })
  void everythingIsAllowedButTheSystemsTopics(ClientScope observe, boolean local, boolean may) {
    Permissions permissions =
        of(observe, ClientScope.EVERYONE, AuthenticationMethod.SHARED_TOKEN, local);
    assertThat(permissions.of(Action.PUBLISH).allowEverything()).isTrue();
    assertThat(permissions.of(Action.SUBSCRIBE).allowEverything()).isTrue();
    assertThat(permissions.of(Action.OBSERVE).allows(SYSTEM)).isEqualTo(may);
    assertThat(permissions.of(Action.OBSERVE).origin())
        .isEqualTo("auth.observe=" + observe.name().toLowerCase(Locale.ROOT));
  }
}
