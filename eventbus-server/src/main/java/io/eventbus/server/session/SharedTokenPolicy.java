package io.eventbus.server.session;

import io.eventbus.protocol.TopicFilter;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import org.jspecify.annotations.Nullable;

/** One token for all clients, or none; and a switch for the topics of the system. */
public final class SharedTokenPolicy implements AccessPolicy {
  private final byte @Nullable [] expected;
  private final boolean systemTopics;

  /**
   * Makes a policy.
   *
   * @param token what each client has to show, null for nothing
   * @param systemTopics whether topics that start with {@code $} may be subscribed to
   */
  public SharedTokenPolicy(@Nullable String token, boolean systemTopics) {
    this.expected = token == null ? null : token.getBytes(StandardCharsets.UTF_8);
    this.systemTopics = systemTopics;
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
  public @Nullable String refuseSubscription(TopicFilter filter) {
    return filter.isSystem() && !systemTopics
        ? "filter '" + filter + "' is the system's, and this bus does not open those to clients"
        : null;
  }
}
