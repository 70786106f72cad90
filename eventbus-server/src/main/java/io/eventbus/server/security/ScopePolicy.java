package io.eventbus.server.security;

import io.eventbus.server.config.AuthConfig;
import io.eventbus.server.config.ClientScope;
import java.util.Locale;
import java.util.Map;

/**
 * Default policy: clients publish and subscribe to everything, request from, broadcast to and serve
 * every service; {@code auth.observe} and {@code auth.block} decide the rest. Nobody manages
 * journals. Immutable; any thread.
 */
public final class ScopePolicy implements PermissionPolicy {
  private final Permissions local;
  private final Permissions remote;
  private final Permissions trusted;

  /**
   * Creates the policy.
   *
   * @param observe clients that may subscribe to topics of the system
   * @param block clients that may stall publishers
   */
  public ScopePolicy(ClientScope observe, ClientScope block) {
    boolean allObserve = observe == ClientScope.EVERYONE;
    boolean allBlock = block == ClientScope.EVERYONE;
    local = permissions(observe, observe != ClientScope.NOBODY, block, block != ClientScope.NOBODY);
    remote = permissions(observe, allObserve, block, allBlock);
    // Authenticated clients may stall publishers as if they were on this machine.
    trusted = permissions(observe, allObserve, block, block != ClientScope.NOBODY);
  }

  /** Creates the policy of a configuration. */
  public ScopePolicy(AuthConfig config) {
    this(config.observe(), config.block());
  }

  private static Permissions permissions(
      ClientScope observe, boolean mayObserve, ClientScope block, boolean mayBlock) {
    return new Permissions(
        Map.of(
            Action.REQUEST,
            FilterRules.everything("no rule"),
            Action.SERVE,
            FilterRules.everything("no rule"),
            Action.BROADCAST,
            FilterRules.everything("no rule"),
            Action.PUBLISH,
            FilterRules.everything("no rule"),
            Action.SUBSCRIBE,
            FilterRules.everything("no rule"),
            Action.BLOCK,
            rules(mayBlock, "auth.block", block),
            Action.OBSERVE,
            rules(mayObserve, "auth.observe", observe)));
  }

  private static FilterRules rules(boolean all, String key, ClientScope scope) {
    String origin = key + "=" + scope.name().toLowerCase(Locale.ROOT);
    return all ? FilterRules.everything(origin) : FilterRules.nothing(origin);
  }

  @Override
  public Permissions permissions(Identity identity, Credentials credentials) {
    if (credentials.local()) {
      return local;
    }
    return identity.method() == AuthenticationMethod.NONE ? remote : trusted;
  }
}
