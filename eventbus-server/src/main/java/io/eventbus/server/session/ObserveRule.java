package io.eventbus.server.session;

import io.eventbus.protocol.TopicFilter;
import io.eventbus.server.config.ClientScope;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Who may observe the bus: subscribe to topics of the system, which tell of all clients. Immutable;
 * any thread.
 *
 * @param observers {@code auth.observe}
 */
record ObserveRule(ClientScope observers) {
  /**
   * Decides on a subscription.
   *
   * @param filter a legal filter
   * @param isLocal whether the client is on this machine
   * @return null if it may subscribe, else the reason
   */
  @Nullable String refuse(TopicFilter filter, boolean isLocal) {
    if (!filter.isSystem()) {
      return null;
    }
    boolean may =
        switch (observers) {
          case EVERYONE -> true;
          case LOOPBACK -> isLocal;
          case NOBODY -> false;
        };
    return may
        ? null
        : "filter '"
            + filter
            + "' is for topics of the system, and auth.observe="
            + observers.name().toLowerCase(Locale.ROOT)
            + " does not let this client (expected: a filter that does not start with $)";
  }
}
