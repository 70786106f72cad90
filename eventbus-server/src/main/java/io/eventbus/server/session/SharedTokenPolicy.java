package io.eventbus.server.session;

import io.eventbus.protocol.TopicFilter;
import io.eventbus.schema.Overflow;
import io.eventbus.server.config.ClientScope;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** One token for all clients, or none; and scopes for what not every client may do. */
public final class SharedTokenPolicy implements AccessPolicy {
  private final byte @Nullable [] expected;
  private final ObserveRule observe;
  private final ClientScope block;

  /**
   * Makes a policy by which every client may use BLOCK.
   *
   * @param token what each client has to show, null for nothing
   * @param observe whether every client, or none, may subscribe to topics of the system
   */
  public SharedTokenPolicy(@Nullable String token, boolean observe) {
    this(token, observe ? ClientScope.EVERYONE : ClientScope.NOBODY, ClientScope.EVERYONE);
  }

  /**
   * Makes a policy.
   *
   * @param token what each client has to show, null for nothing
   * @param observe who may subscribe to topics of the system
   * @param block who may hold publishers back
   */
  public SharedTokenPolicy(@Nullable String token, ClientScope observe, ClientScope block) {
    this.block = block;
    this.expected = token == null ? null : token.getBytes(StandardCharsets.UTF_8);
    this.observe = new ObserveRule(observe);
  }

  @Override
  public @Nullable String refuseConnection(@Nullable String token) {
    if (expected == null) {
      return null;
    }
    if (token == null) {
      return "this bus wants a token in Hello.token; there was none";
    }
    // Takes the same time wherever the first difference is.
    return MessageDigest.isEqual(expected, token.getBytes(StandardCharsets.UTF_8))
        ? null
        : "the token in Hello.token is not the one that this bus expects";
  }

  @Override
  public @Nullable String refuseOverflow(Overflow overflow, boolean isLocal) {
    // Whoever is connected has shown the token, if there is one.
    boolean may =
        switch (block) {
          case EVERYONE -> true;
          case LOOPBACK -> isLocal || expected != null;
          case NOBODY -> false;
        };
    return may || overflow != Overflow.BLOCK
        ? null
        : "the policy BLOCK may hold publishers back, and auth.block="
            + block.name().toLowerCase(Locale.ROOT)
            + " does not let this client (expected: DROP_OLDEST, CONFLATE or DISCONNECT)";
  }

  @Override
  public @Nullable String refuseSubscription(TopicFilter filter, boolean isLocal) {
    return observe.refuse(filter, isLocal);
  }
}
