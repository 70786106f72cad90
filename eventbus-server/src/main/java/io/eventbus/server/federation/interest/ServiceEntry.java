package io.eventbus.server.federation.interest;

import org.jspecify.annotations.Nullable;

/**
 * Announcement of a service among the filters: as a group of subscribers to a system topic of the
 * service. A client that subscribes like this is not announced. Stateless.
 */
final class ServiceEntry {
  private static final String TOPIC = "$SRV.";
  private static final String MEMBERS = "+";

  private ServiceEntry() {}

  static LocalInterest.Key key(String account, String service) {
    return new LocalInterest.Key(account, TOPIC + service, MEMBERS);
  }

  /** Returns the service that an entry announces; null for an entry of subscribers. */
  static @Nullable String service(LocalInterest.Key key) {
    return MEMBERS.equals(key.group()) && key.filter().startsWith(TOPIC)
        ? key.filter().substring(TOPIC.length())
        : null;
  }
}
