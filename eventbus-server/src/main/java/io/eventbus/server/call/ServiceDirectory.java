package io.eventbus.server.call;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Directory of the services of a bus by account and name: those that have members, and those that
 * loops still know. Any thread; the path of a call uses it only for names that its loop does not
 * know.
 */
final class ServiceDirectory {
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

  List<ServiceFigures> figures(long nowNanos) {
    List<ServiceFigures> all = new ArrayList<>();
    for (LocalService service : services.values()) {
      ServiceMember[] members = service.members();
      if (members.length > 0) {
        List<MemberFigures> each = new ArrayList<>(members.length);
        for (ServiceMember member : members) {
          each.add(member.figures(nowNanos));
        }
        all.add(
            new ServiceFigures(
                service.account(), service.name(), service.queued().get(), List.copyOf(each)));
      }
    }
    all.sort(Comparator.comparing(ServiceFigures::account).thenComparing(ServiceFigures::name));
    return List.copyOf(all);
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
