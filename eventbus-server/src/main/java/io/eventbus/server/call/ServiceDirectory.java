package io.eventbus.server.call;

import java.util.Arrays;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Directory of the services of a bus by account and name: those that have members, and those that
 * loops still know. Any thread; the path of a call uses it only for names that its loop does not
 * know.
 */
final class ServiceDirectory {
  private static final ServiceMember[] NO_MEMBERS = {};

  private final ConcurrentHashMap<ServiceKey, LocalService> services = new ConcurrentHashMap<>();
  private final int loops;
  private final ServedHere listener;

  ServiceDirectory(int loops, ServedHere listener) {
    this.loops = loops;
    this.listener = listener;
  }

  /** Returns a service, which is kept until it is left as often as it was joined. */
  LocalService join(String account, String name) {
    return join(new ServiceKey(account, name));
  }

  /** Returns a service as above. */
  LocalService join(ServiceKey of) {
    return services.compute(
        of,
        (key, there) -> {
          LocalService service = there == null ? new LocalService(key, loops, listener) : there;
          service.uses++;
          return service;
        });
  }

  /** Returns a service as {@link #join} does, if members take its calls; else null. */
  @Nullable LocalService joinServed(String account, String name) {
    LocalService there = services.get(new ServiceKey(account, name));
    return there == null || !there.isServed() ? null : join(account, name);
  }

  void leave(LocalService service) {
    services.computeIfPresent(service.key(), (key, there) -> --there.uses == 0 ? null : there);
  }

  /** Returns the figures of a service; null if it has no members. */
  @Nullable ServiceFigures figures(ServiceKey key, long nowNanos) {
    LocalService service = services.get(key);
    ServiceMember[] members = service == null ? NO_MEMBERS : service.members();
    if (service == null || members.length == 0) {
      return null;
    }
    return new ServiceFigures(
        service.account(),
        service.name(),
        service.queued().get(),
        Arrays.stream(members).map(member -> member.figures(nowNanos)).toList());
  }

  /** Calls a visitor with the key of each service that has members, in any order. */
  void forEach(Consumer<ServiceKey> visitor) {
    for (LocalService service : services.values()) {
      if (service.members().length > 0) {
        visitor.accept(service.key());
      }
    }
  }

  /** Returns the number of members of all services. */
  long members() {
    long members = 0;
    for (LocalService service : services.values()) {
      members += service.members().length;
    }
    return members;
  }

  int count() {
    int count = 0;
    for (LocalService service : services.values()) {
      if (service.members().length > 0) {
        count++;
      }
    }
    return count;
  }
}
