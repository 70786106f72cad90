package io.eventbus.server.session;

import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Confirm;
import io.eventbus.schema.Drained;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Subscribe;
import io.eventbus.server.routing.Subscription;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The subscriptions of one session. Changed by its loop only; read by any thread. */
public final class SessionSubscriptions {
  private final LoopContext loop;
  private final ClientLink link;
  private final Refusal refusal;
  // Made with the first subscription: a session that only publishes needs none.
  private volatile Map<Long, Subscription> byId = Map.of();
  private @Nullable EqualSubscriptions equal;
  private boolean closed;

  SessionSubscriptions(LoopContext loop, ClientLink link, Refusal refusal) {
    this.loop = loop;
    this.link = link;
    this.refusal = refusal;
  }

  void subscribe(Subscribe request) {
    String problem = TopicFilter.problem(request.getFilter());
    if (problem != null) {
      refuse(ErrorCode.ILLEGAL_FILTER, problem, request.getId());
      return;
    }
    String group = request.getGroup();
    if (group != null && group.isBlank()) {
      refuse(
          ErrorCode.ILLEGAL_FILTER,
          "the group is blank (expected: null for none, or a name)",
          request.getId());
      return;
    }
    TopicFilter filter = TopicFilter.parse(request.getFilter());
    String forbidden = loop.bus.access().refuseSubscription(filter);
    if (forbidden != null) {
      refuse(ErrorCode.FORBIDDEN, forbidden, request.getId());
      return;
    }
    if (byId.containsKey(request.getId())) {
      refuse(
          ErrorCode.DUPLICATE_SUBSCRIPTION,
          "subscription " + request.getId() + " exists already (expected: a new id)",
          request.getId());
      return;
    }
    int limit = loop.bus.limits().subscriptions();
    if (byId.size() >= limit) {
      refuse(
          ErrorCode.LIMIT_EXCEEDED,
          "the connection has " + byId.size() + " subscriptions (expected: at most " + limit + ")",
          request.getId());
      return;
    }
    int groups = loop.bus.limits().groups();
    if (equal().groupsWith(group) > groups) {
      refuse(
          ErrorCode.LIMIT_EXCEEDED,
          "the connection is a member of " + groups + " groups (expected: at most " + groups + ")",
          request.getId());
      return;
    }
    // Two loops may pass it by one each: a bound on memory, not an account.
    long budget = loop.bus.limits().subscriptionBudget();
    if (loop.bus.index().bytes() >= budget) {
      refuse(
          ErrorCode.LIMIT_EXCEEDED,
          "the bus has all the subscriptions that it may (expected: at most "
              + budget
              + " bytes of them, limits.subscription-bytes); use fewer or shorter filters, or"
              + " another bus",
          request.getId());
      return;
    }
    Subscription subscription =
        new Subscription(link.subscriber(), request.getId(), filter, group, request.getOverflow());
    if (byId.isEmpty()) {
      byId = new ConcurrentHashMap<>(4);
    }
    byId.put(request.getId(), subscription);
    equal().add(subscription);
    confirm(TypeCode.SUBSCRIBE, request.getId());
  }

  private EqualSubscriptions equal() {
    EqualSubscriptions e = equal;
    if (e == null) {
      e = new EqualSubscriptions(loop.bus.index());
      equal = e;
    }
    return e;
  }

  void unsubscribe(long id) {
    Subscription subscription = byId.isEmpty() ? null : byId.remove(id);
    if (subscription == null) {
      refusal.refuse(
          ErrorCode.UNKNOWN_SUBSCRIPTION,
          "there is no subscription " + id + " (expected: the id of a Subscribe)",
          id,
          TypeCode.UNSUBSCRIBE.code(),
          "");
      return;
    }
    equal().remove(subscription);
    confirm(TypeCode.UNSUBSCRIBE, id);
    loop.bus
        .barrier()
        .afterAll(
            loop.router.loop(),
            () -> {
              if (!closed) {
                link.sendLast(ControlFrames.encode(TypeCode.DRAINED, new Drained(id)));
              }
            });
  }

  private void confirm(TypeCode type, long id) {
    link.send(ControlFrames.encode(TypeCode.CONFIRM, new Confirm(type.code(), id, "")));
  }

  private void refuse(ErrorCode code, String message, long id) {
    refusal.refuse(code, message, id, TypeCode.SUBSCRIBE.code(), "");
  }

  void removeAll() {
    closed = true;
    if (equal != null) {
      equal.removeAll();
    }
    byId = Map.of();
  }

  /**
   * Returns how many there are; any thread.
   *
   * @return 0 or more
   */
  public int size() {
    return byId.size();
  }

  /**
   * Returns the subscriptions; any thread.
   *
   * @return a copy in no order
   */
  public Collection<Subscription> list() {
    return List.copyOf(byId.values());
  }
}
