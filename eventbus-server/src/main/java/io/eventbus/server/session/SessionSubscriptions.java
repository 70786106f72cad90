package io.eventbus.server.session;

import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Confirm;
import io.eventbus.schema.Drained;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Overflow;
import io.eventbus.schema.Problem;
import io.eventbus.schema.Subscribe;
import io.eventbus.server.quota.ConnectionQuota;
import io.eventbus.server.routing.RoutedSubscription;
import io.eventbus.server.routing.SubscriptionIndex;
import io.eventbus.server.security.Action;
import io.eventbus.server.security.FilterRules;
import io.eventbus.server.security.Permissions;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** The subscriptions of one session. Changed by its loop only; read by any thread. */
public final class SessionSubscriptions {
  private final LoopContext loop;
  private final ClientLink link;
  private final Refusal refusal;
  private final Denials denials;
  private final BooleanSupplier arriving;
  private final BooleanSupplier changing;
  private SubscriptionIndex index;
  // Made with the first subscription: a session that only publishes needs none.
  private volatile Map<Long, RoutedSubscription> byId = Map.of();
  private @Nullable DeduplicatedSubscriptions equal;
  private @Nullable SubscriptionShare share;
  private final InterestShare interest;
  // Confined to the loop: whose Confirm waits for other buses, and whose Drained does.
  private Set<RoutedSubscription> unconfirmed = Set.of();
  private Set<RoutedSubscription> leaving = Set.of();
  private Permissions permissions = Permissions.NONE;
  private @Nullable ConnectionQuota quotas;
  private boolean unsubscribedAll;
  private int ofServices;
  private boolean closed;

  /**
   * Makes an empty set.
   *
   * @param denials is told what the client may not do
   */
  SessionSubscriptions(
      LoopContext loop,
      ClientLink link,
      Refusal refusal,
      Denials denials,
      BooleanSupplier arriving,
      BooleanSupplier changing) {
    this.loop = loop;
    this.link = link;
    this.refusal = refusal;
    this.denials = denials;
    this.arriving = arriving;
    this.changing = changing;
    this.index = loop.bus.index();
    this.interest = new InterestShare(link);
  }

  /** Filters and services of the connection that other buses are told of. */
  InterestShare interest() {
    return interest;
  }

  /** Says in whose name space the client subscribes; before it has subscriptions. */
  void enter(SubscriptionIndex account) {
    index = account;
  }

  /** Whether a number is that of a subscription. */
  boolean has(long id) {
    return byId.containsKey(id);
  }

  /** Says what the client may subscribe to from now on. */
  void permit(Permissions granted) {
    permissions = granted;
  }

  /** Says which quotas hold from now on; null for none. */
  void share(@Nullable ConnectionQuota share) {
    quotas = share;
  }

  /**
   * Adds a subscription, or refuses it.
   *
   * @param retry called once, by any thread, if it has to wait
   * @return false if it has to wait; then nothing was done
   */
  boolean subscribe(Subscribe request, Runnable retry) {
    String problem = TopicFilter.problem(request.getFilter());
    if (problem != null) {
      refuse(ErrorCode.ILLEGAL_FILTER, problem, request.getId());
      return true;
    }
    String group = request.getGroup();
    if (group != null && group.isBlank()) {
      refuse(
          ErrorCode.ILLEGAL_FILTER,
          "the group is blank (expected: null for none, or a name)",
          request.getId());
      return true;
    }
    TopicFilter filter = TopicFilter.parse(request.getFilter());
    if (ServiceBroadcasts.isTopicOfMembers(filter)) {
      denials.denied(
          Action.SUBSCRIBE, filter.toString(), "only members of a service hear its broadcasts");
      refuse(ErrorCode.FORBIDDEN, ServiceBroadcasts.FOR_MEMBERS, request.getId());
      return true;
    }
    String forbidden = forbidden(filter, request.getOverflow());
    if (forbidden != null) {
      refuse(ErrorCode.FORBIDDEN, forbidden, request.getId());
      return true;
    }
    if (request.getOverflow() == Overflow.BLOCK && !link.mayBlock()) {
      denials.denied(Action.BLOCK, filter.toString(), "listen.browser-block");
      refuse(
          ErrorCode.FORBIDDEN,
          "a page in a browser may not hold publishers back (BLOCK) on this bus"
              + " (listen.browser-block; expected: DROP_OLDEST, CONFLATE or DISCONNECT)",
          request.getId());
      return true;
    }
    if (byId.containsKey(request.getId())) {
      refuse(
          ErrorCode.DUPLICATE_SUBSCRIPTION,
          "subscription " + request.getId() + " exists already (expected: a new id)",
          request.getId());
      return true;
    }
    int limit = loop.bus.limits().subscriptions();
    if (byId.size() >= limit) {
      refuse(
          ErrorCode.LIMIT_EXCEEDED,
          "the connection has " + byId.size() + " subscriptions (expected: at most " + limit + ")",
          request.getId());
      return true;
    }
    int groups = equal().groupsWith(group);
    int mostGroups = loop.bus.limits().groups();
    if (groups > mostGroups) {
      refuse(
          ErrorCode.LIMIT_EXCEEDED,
          "the connection is a member of "
              + mostGroups
              + " groups (expected: at most "
              + mostGroups
              + ")",
          request.getId());
      return true;
    }
    String tooMany =
        loop.bus.cluster().refuse(index.account(), request.getFilter(), group, interest);
    if (tooMany != null) {
      refuse(ErrorCode.LIMIT_EXCEEDED, tooMany, request.getId());
      return true;
    }
    RoutedSubscription subscription =
        new RoutedSubscription(
            link.subscriber(), request.getId(), filter, group, request.getOverflow());
    if (mustWait(filter, retry)) {
      return false;
    }
    String overLimit = take(subscription, groups);
    if (overLimit != null) {
      refuse(ErrorCode.LIMIT_EXCEEDED, overLimit, request.getId());
      return true;
    }
    if (byId.isEmpty()) {
      byId = new ConcurrentHashMap<>(4);
    }
    byId.put(request.getId(), subscription);
    unsubscribedAll = false;
    equal().add(subscription);
    if (loop.bus.cluster().isAlone()) {
      confirm(TypeCode.SUBSCRIBE, request.getId());
      return true;
    }
    unconfirmed = with(unconfirmed, subscription);
    loop.bus
        .cluster()
        .afterInterestApplied(
            loop.router.loop(),
            known -> {
              if (known || !arriving.getAsBoolean()) {
                confirmOnce(subscription);
              } else {
                withdraw(subscription);
              }
            });
    return true;
  }

  /** Takes what a subscription needs; null, or which limit it would pass. */
  private @Nullable String take(RoutedSubscription subscription, int groups) {
    ConnectionQuota quota = quotas;
    String overQuota = quota == null ? null : quota.acquireSubscription();
    if (overQuota != null) {
      return overQuota;
    }
    String overLimit = share().take(subscription, groups);
    if (overLimit == null) {
      interest.take();
    } else if (quota != null) {
      quota.releaseSubscription();
    }
    return overLimit;
  }

  /** Says why the client may not subscribe; null if it may. */
  private @Nullable String forbidden(TopicFilter filter, Overflow overflow) {
    Action action = filter.isSystem() ? Action.OBSERVE : Action.SUBSCRIBE;
    if (!allows(action, filter)) {
      return filter.isSystem()
          ? forbidden("observe", filter, action, "a filter that does not start with $")
          : forbidden("subscribe to", filter, action, "a filter of which everything is allowed");
    }
    return forbiddenToBlock(filter, overflow);
  }

  /** Says why the client may not hold publishers back with a filter; null if it may. */
  @Nullable String forbiddenToBlock(TopicFilter filter, Overflow overflow) {
    return overflow == Overflow.BLOCK && !allows(Action.BLOCK, filter)
        ? forbidden(
            "hold publishers back (BLOCK) with",
            filter,
            Action.BLOCK,
            "DROP_OLDEST, CONFLATE or DISCONNECT")
        : null;
  }

  private boolean allows(Action action, TopicFilter filter) {
    FilterRules rules = permissions.of(action);
    boolean allowed = rules.allows(filter);
    if (!allowed) {
      denials.denied(action, filter.toString(), () -> rules.explain(filter));
    }
    return allowed;
  }

  /** For the client: what it may not do, and never which rule says so. */
  private String forbidden(String what, TopicFilter filter, Action action, String expected) {
    return what
        + " '"
        + filter
        + "' is not allowed to this client ("
        + permissions.of(action).origin()
        + "; expected: "
        + expected
        + ")";
  }

  /**
   * Ends those that are not allowed any more. As where a connection ends, what other buses have
   * sent already does not come: it is not allowed either.
   *
   * @param some of {@link #list}; those that have ended meanwhile do not count
   * @return false if the rest of them is to be looked at in a later tick
   */
  boolean endForbidden(Iterator<RoutedSubscription> some) {
    while (some.hasNext()) {
      if (!loop.budget().hasReviewLeft()) {
        return false;
      }
      long began = loop.budget().now();
      RoutedSubscription subscription = some.next();
      if (byId.get(subscription.id()) == subscription) {
        String forbidden = forbidden(subscription.filter(), subscription.overflow());
        if (forbidden != null) {
          byId.remove(subscription.id());
          if (!unconfirmed.isEmpty()) {
            unconfirmed.remove(subscription);
          }
          refuse(ErrorCode.FORBIDDEN, forbidden, subscription.id());
          end(subscription);
        }
      }
      loop.budget().spendOnReview(began);
    }
    return true;
  }

  /**
   * Says whether a change for a filter has to wait; then the retry is called once, by any thread.
   */
  boolean mustWait(TopicFilter filter, Runnable retry) {
    long nanos = index.waitNanos(filter, loop.budget().now());
    if (nanos > 0) {
      link.later(retry, nanos);
    }
    return nanos > 0;
  }

  /**
   * What another bus does not know of does not come here: a client that relied on it and left its
   * bus would miss events, so it is told to stay there.
   */
  private void withdraw(RoutedSubscription subscription) {
    if (closed || unconfirmed.isEmpty() || !unconfirmed.remove(subscription)) {
      return;
    }
    byId.remove(subscription.id());
    remove(subscription);
    ErrorCode code = ErrorCode.OVERLOADED;
    Problem problem =
        new Problem(
            code,
            "another bus did not say in time that it knows the subscription; stay at your bus, or"
                + " subscribe again",
            true,
            subscription.id(),
            TypeCode.SUBSCRIBE.code(),
            "");
    loop.bus.stats().countProblem(code);
    // Behind what a group has chosen it for, which no other member gets.
    sendLast(ControlFrames.encode(TypeCode.PROBLEM, problem));
  }

  /** Late where another bus did not answer: the subscriber would rather have what comes. */
  private void confirmOnce(RoutedSubscription subscription) {
    if (!unconfirmed.isEmpty() && unconfirmed.remove(subscription) && !closed) {
      confirm(TypeCode.SUBSCRIBE, subscription.id());
    }
  }

  private DeduplicatedSubscriptions equal() {
    DeduplicatedSubscriptions e = equal;
    if (e == null) {
      e = new DeduplicatedSubscriptions(index);
      equal = e;
    }
    return e;
  }

  private SubscriptionShare share() {
    SubscriptionShare s = share;
    if (s == null) {
      s = new SubscriptionShare(link, index, loop.bus.limits());
      share = s;
    }
    return s;
  }

  /**
   * Takes what a subscription needs that a service brings with it.
   *
   * @return null, or which limit it would pass; then nothing was taken
   */
  @Nullable String takeForService(RoutedSubscription subscription) {
    String tooMany =
        loop.bus
            .cluster()
            .refuse(index.account(), subscription.filter().toString(), null, interest);
    String refused = tooMany != null ? tooMany : take(subscription, equal().groupsWith(null));
    ofServices += refused == null ? 1 : 0;
    return refused;
  }

  /** Begins a subscription of a service. */
  void beginForService(RoutedSubscription subscription) {
    equal().add(subscription);
  }

  /** Ends a subscription of a service, begun or not. */
  void endForService(RoutedSubscription subscription) {
    ofServices--;
    remove(subscription);
  }

  boolean isClosed() {
    return closed;
  }

  private void remove(RoutedSubscription subscription) {
    equal().remove(subscription);
    share().give(subscription);
    interest.give();
    if (quotas != null) {
      quotas.releaseSubscription();
    }
  }

  /**
   * Ends a subscription.
   *
   * @param retry called once, by any thread, if it has to wait
   * @return false if it has to wait; then nothing was done
   */
  boolean unsubscribe(long id, Runnable retry) {
    RoutedSubscription subscription = byId.get(id);
    if (subscription == null) {
      refusal.refuse(
          ErrorCode.UNKNOWN_SUBSCRIPTION,
          "there is no subscription " + id + " (expected: the id of a Subscribe)",
          id,
          TypeCode.UNSUBSCRIBE.code(),
          "");
      return true;
    }
    if (mustWait(subscription.filter(), retry)) {
      return false;
    }
    unsubscribe(subscription);
    return true;
  }

  private void unsubscribe(RoutedSubscription subscription) {
    byId.remove(subscription.id());
    unsubscribedAll = byId.isEmpty();
    confirmOnce(subscription);
    confirm(TypeCode.UNSUBSCRIBE, subscription.id());
    // What other buses have sent already is still for this subscription: a client that changes the
    // bus gets it nowhere else.
    if (loop.bus.cluster().isAlone()) {
      end(subscription);
      return;
    }
    leaving = with(leaving, subscription);
    if (subscription.group() == null) {
      awaitArrival(subscription);
    } else {
      // For a group one bus is chosen: what comes after the last Drained would come to no member.
      equal().withdraw(subscription);
      awaitWithdrawal(subscription);
    }
  }

  private void awaitWithdrawal(RoutedSubscription subscription) {
    loop.bus
        .cluster()
        .afterInterestApplied(
            loop.router.loop(),
            known -> {
              if (!known && !closed && changing.getAsBoolean()) {
                awaitWithdrawal(subscription);
              } else {
                awaitArrival(subscription);
              }
            });
  }

  private void awaitArrival(RoutedSubscription subscription) {
    loop.bus
        .cluster()
        .afterInboundDelivered(
            loop.router.loop(),
            arrived -> {
              if (closed || !leaving.contains(subscription)) {
                return;
              }
              if (!arrived && changing.getAsBoolean()) {
                // It would believe that it has everything. Its time to change bounds this.
                awaitArrival(subscription);
                return;
              }
              leaving.remove(subscription);
              end(subscription);
            });
  }

  /** Most sessions have none most of the time. */
  private static Set<RoutedSubscription> with(
      Set<RoutedSubscription> some, RoutedSubscription more) {
    Set<RoutedSubscription> all = some.isEmpty() ? new HashSet<>(4) : some;
    all.add(more);
    return all;
  }

  private void end(RoutedSubscription subscription) {
    remove(subscription);
    sendLast(ControlFrames.encode(TypeCode.DRAINED, new Drained(subscription.id())));
  }

  /** Behind everything that was routed before, on any loop. */
  private void sendLast(byte[] frame) {
    loop.bus
        .barrier()
        .afterAll(
            loop.router.loop(),
            () -> {
              if (!closed) {
                link.sendLast(frame);
              }
            });
  }

  private void confirm(TypeCode type, long id) {
    link.send(ControlFrames.encode(TypeCode.CONFIRM, new Confirm(type.code(), id, "", -1L)));
  }

  private void refuse(ErrorCode code, String message, long id) {
    refusal.refuse(code, message, id, TypeCode.SUBSCRIBE.code(), "");
  }

  /** Whether there were some, and the client has ended all of them. */
  boolean hasUnsubscribedAll() {
    return unsubscribedAll;
  }

  /** How many take room, those that end but have not ended included. */
  int held() {
    return byId.size() + leaving.size() + ofServices;
  }

  /**
   * Ends all, now or, where there are many, in later turns. The client has gone: what is offered to
   * it until then is thrown away.
   */
  void removeAll(Runnable removed) {
    closed = true;
    DeduplicatedSubscriptions all = equal;
    if (all == null) {
      removed.run();
    } else {
      Iterator<Deque<RoutedSubscription>> left = all.leave();
      loop.calls.inSlices(
          () -> {
            boolean more = all.removeSome(left);
            if (!more) {
              removed.run();
            }
            return more;
          });
    }
    if (share != null) {
      share.giveAll();
    }
    interest.giveAll();
    unconfirmed = Set.of();
    leaving = Set.of();
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

  /** Returns the subscriptions; any thread. */
  public Collection<RoutedSubscription> list() {
    return List.copyOf(byId.values());
  }
}
