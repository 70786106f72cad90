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
import io.eventbus.server.admission.AddressLimits;
import io.eventbus.server.durable.StoredDelivery;
import io.eventbus.server.queue.Outbound;
import io.eventbus.server.quota.ConnectionQuota;
import io.eventbus.server.security.Action;
import io.eventbus.server.security.FilterRules;
import io.eventbus.server.security.Permissions;
import io.eventbus.server.subscription.RoutedSubscription;
import io.eventbus.server.subscription.SubscriptionIndex;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Subscriptions of one session. Only its loop changes them; any thread reads. */
public final class SessionSubscriptions {
  private final LoopContext loop;
  private final Outbound out;
  private final ConnectionControl connection;
  private final AddressLimits address;
  private final Refusal refusal;
  private final Denials denials;
  private final SessionMove move;
  private SubscriptionIndex index;
  // Allocated with the first subscription: a session that only publishes needs none.
  private volatile Map<Long, RoutedSubscription> byId = Map.of();
  private @Nullable DeduplicatedSubscriptions deduplicated;
  private @Nullable SubscriptionShare share;
  private final InterestShare interest;
  // Confined to the loop: subscriptions whose Confirm, or whose Drained, waits for peers.
  private Set<RoutedSubscription> unconfirmed = Set.of();
  private Set<RoutedSubscription> leaving = Set.of();
  private Permissions permissions = Permissions.NONE;
  private @Nullable ConnectionQuota quotas;
  private boolean unsubscribedAll;
  private int ofServices;
  // Ids of consumers of durable topics, which count as subscriptions.
  private Set<Long> consumers = Set.of();
  private boolean closed;

  /**
   * Creates an empty set.
   *
   * @param denials reports what the client may not do
   */
  SessionSubscriptions(
      LoopContext loop,
      Outbound out,
      ConnectionControl connection,
      AddressLimits address,
      Refusal refusal,
      Denials denials,
      SessionMove move) {
    this.loop = loop;
    this.out = out;
    this.connection = connection;
    this.address = address;
    this.refusal = refusal;
    this.denials = denials;
    this.move = move;
    this.index = loop.bus.index();
    this.interest = new InterestShare(address);
  }

  /** Returns the filters and services of the connection that peers are told of. */
  InterestShare interest() {
    return interest;
  }

  /** Sets the index of the client's account, before there are subscriptions. */
  void enter(SubscriptionIndex account) {
    index = account;
  }

  /** Returns whether an id is that of a subscription or consumer. */
  boolean has(long id) {
    return byId.containsKey(id) || consumers.contains(id);
  }

  /** Sets the permissions that apply from now on. */
  void permit(Permissions granted) {
    permissions = granted;
  }

  /** Sets the quotas that apply from now on; null for none. */
  void share(@Nullable ConnectionQuota share) {
    quotas = share;
  }

  /**
   * Adds a subscription, or refuses it. Returns false if it has to wait; then nothing was done.
   *
   * @param retry called once, by any thread, if it has to wait
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
    if (request.getOverflow() == Overflow.BLOCK && !connection.mayBlock()) {
      denials.denied(Action.BLOCK, filter.toString(), "listen.browser-block");
      refuse(
          ErrorCode.FORBIDDEN,
          "a page in a browser may not stall publishers (BLOCK) on this bus"
              + " (listen.browser-block; expected: DROP_OLDEST, CONFLATE or DISCONNECT)",
          request.getId());
      return true;
    }
    if (has(request.getId())) {
      refuse(
          ErrorCode.DUPLICATE_SUBSCRIPTION,
          "subscription " + request.getId() + " exists already (expected: a new id)",
          request.getId());
      return true;
    }
    String tooManyHere = overLimit();
    if (tooManyHere != null) {
      refuse(ErrorCode.LIMIT_EXCEEDED, tooManyHere, request.getId());
      return true;
    }
    int groups = deduplicated().groupsWith(group);
    int maxGroups = loop.bus.limits().groups();
    if (groups > maxGroups) {
      refuse(
          ErrorCode.LIMIT_EXCEEDED,
          "the connection is a member of "
              + maxGroups
              + " groups (expected: at most "
              + maxGroups
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
        new RoutedSubscription(out, request.getId(), filter, group, request.getOverflow());
    if (mustWait(filter, retry)) {
      return false;
    }
    String overLimit = acquire(subscription, groups);
    if (overLimit != null) {
      refuse(ErrorCode.LIMIT_EXCEEDED, overLimit, request.getId());
      return true;
    }
    if (byId.isEmpty()) {
      byId = new ConcurrentHashMap<>(4);
    }
    byId.put(request.getId(), subscription);
    unsubscribedAll = false;
    deduplicated().add(subscription);
    if (loop.bus.cluster().isAlone()) {
      confirm(TypeCode.SUBSCRIBE, request.getId());
      return true;
    }
    unconfirmed = with(unconfirmed, subscription);
    loop.bus
        .cluster()
        .whenInterestPropagated(
            loop.router.loop(),
            known -> {
              if (known || !move.isMovingHere()) {
                confirmOnce(subscription);
              } else {
                withdraw(subscription);
              }
            });
    return true;
  }

  private @Nullable String overLimit() {
    int limit = loop.bus.limits().subscriptions();
    int now = byId.size() + consumers.size();
    return now < limit
        ? null
        : "the connection has " + now + " subscriptions (expected: at most " + limit + ")";
  }

  /**
   * Acquires the resources of a consumer of durable topics. Returns null, or the limit that it
   * would exceed; then nothing was acquired.
   *
   * @param bytes its heap, about
   */
  @Nullable String acquireConsumer(long id, long bytes) {
    String overLimit = overLimit();
    if (overLimit != null) {
      return overLimit;
    }
    ConnectionQuota quota = quotas;
    String overQuota = quota == null ? null : quota.acquireSubscription();
    if (overQuota != null) {
      return overQuota;
    }
    if (!address.acquireSubscriptionBytes(bytes)) {
      if (quota != null) {
        quota.releaseSubscription();
      }
      return "the subscriptions of all connections from the client's address have no room for "
          + bytes
          + " bytes more (expected: at most limits.address-memory-percent of"
          + " limits.subscription-bytes)";
    }
    if (consumers.isEmpty()) {
      consumers = new HashSet<>(4);
    }
    consumers.add(id);
    return null;
  }

  /** Releases the resources of a consumer. */
  void releaseConsumer(long id, long bytes) {
    consumers.remove(id);
    address.releaseSubscriptionBytes(bytes);
    if (quotas != null) {
      quotas.releaseSubscription();
    }
  }

  /** Releases the resources of all consumers, for {@link #removeAll}. */
  void releaseConsumers(long bytes) {
    consumers = Set.of();
    if (bytes > 0) {
      address.releaseSubscriptionBytes(bytes);
    }
  }

  /** Returns why the client may not consume what a filter selects; null if it may. */
  @Nullable String forbidden(TopicFilter filter) {
    return forbidden(filter, Overflow.DROP_OLDEST);
  }

  /** Acquires the resources of a subscription; returns null, or the limit that it would exceed. */
  private @Nullable String acquire(RoutedSubscription subscription, int groups) {
    ConnectionQuota quota = quotas;
    String overQuota = quota == null ? null : quota.acquireSubscription();
    if (overQuota != null) {
      return overQuota;
    }
    String overLimit = share().acquire(subscription, groups);
    if (overLimit == null) {
      interest.acquire();
    } else if (quota != null) {
      quota.releaseSubscription();
    }
    return overLimit;
  }

  /** Returns why the client may not subscribe; null if it may. */
  private @Nullable String forbidden(TopicFilter filter, Overflow overflow) {
    Action action = filter.isSystem() ? Action.OBSERVE : Action.SUBSCRIBE;
    if (!allows(action, filter)) {
      return filter.isSystem()
          ? forbidden("observe", filter, action, "a filter that does not start with $")
          : forbidden("subscribe to", filter, action, "a filter of which everything is allowed");
    }
    return forbiddenToBlock(filter, overflow);
  }

  /** Returns why the client may not stall publishers with a filter; null if it may. */
  @Nullable String forbiddenToBlock(TopicFilter filter, Overflow overflow) {
    return overflow == Overflow.BLOCK && !allows(Action.BLOCK, filter)
        ? forbidden(
            "stall publishers (BLOCK) with",
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

  /** Returns the refusal for the client, which names no rule. */
  private String forbidden(String verb, TopicFilter filter, Action action, String expected) {
    return verb
        + " '"
        + filter
        + "' is not allowed to this client ("
        + permissions.of(action).origin()
        + "; expected: "
        + expected
        + ")";
  }

  /**
   * Ends subscriptions that are no longer allowed. As at the end of a connection, events that peers
   * have sent already are not delivered: they are not allowed either. Returns false if the rest is
   * left for a later tick.
   *
   * @param remaining iterator of {@link #list}; subscriptions that have ended meanwhile are ignored
   */
  boolean endForbidden(Iterator<RoutedSubscription> remaining) {
    while (remaining.hasNext()) {
      if (!loop.budget().hasReviewLeft()) {
        return false;
      }
      long began = loop.budget().now();
      RoutedSubscription subscription = remaining.next();
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
   * Returns whether a change of a filter has to wait; then the retry is called once, by any thread.
   */
  boolean mustWait(TopicFilter filter, Runnable retry) {
    long nanos = index.waitNanos(filter, loop.budget().now());
    if (nanos > 0) {
      connection.later(retry, nanos);
    }
    return nanos > 0;
  }

  /**
   * Ends a subscription that a peer does not know: a client that relied on it and left its bus
   * would miss events, so it is told to stay there.
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
            "another bus did not confirm the subscription in time; stay at your bus, or"
                + " subscribe again",
            true,
            subscription.id(),
            TypeCode.SUBSCRIBE.code(),
            "");
    loop.bus.stats().countProblem(code);
    // After events for which a group has chosen it, which no other member gets.
    sendLast(ControlFrames.encode(TypeCode.PROBLEM, problem));
  }

  /**
   * Confirms a subscription at most once, late if a peer did not answer: the subscriber prefers
   * events to a refusal.
   */
  private void confirmOnce(RoutedSubscription subscription) {
    if (!unconfirmed.isEmpty() && unconfirmed.remove(subscription) && !closed) {
      confirm(TypeCode.SUBSCRIBE, subscription.id());
    }
  }

  private DeduplicatedSubscriptions deduplicated() {
    DeduplicatedSubscriptions e = deduplicated;
    if (e == null) {
      e = new DeduplicatedSubscriptions(index);
      deduplicated = e;
    }
    return e;
  }

  private SubscriptionShare share() {
    SubscriptionShare s = share;
    if (s == null) {
      s = new SubscriptionShare(address, index, loop.bus.limits());
      share = s;
    }
    return s;
  }

  /**
   * Acquires the resources of a subscription that belongs to a service. Returns null, or the limit
   * that it would exceed; then nothing was acquired.
   */
  @Nullable String acquireForService(RoutedSubscription subscription) {
    String tooMany =
        loop.bus
            .cluster()
            .refuse(index.account(), subscription.filter().toString(), null, interest);
    String refused =
        tooMany != null ? tooMany : acquire(subscription, deduplicated().groupsWith(null));
    ofServices += refused == null ? 1 : 0;
    return refused;
  }

  /** Starts a subscription of a service. */
  void beginForService(RoutedSubscription subscription) {
    deduplicated().add(subscription);
  }

  /** Ends a subscription of a service, started or not. */
  void endForService(RoutedSubscription subscription) {
    ofServices--;
    remove(subscription);
  }

  boolean isClosed() {
    return closed;
  }

  private void remove(RoutedSubscription subscription) {
    deduplicated().remove(subscription);
    share().release(subscription);
    interest.release();
    if (quotas != null) {
      quotas.releaseSubscription();
    }
  }

  /**
   * Ends a subscription. Returns false if it has to wait; then nothing was done.
   *
   * @param retry called once, by any thread, if it has to wait
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
    // Events that peers have sent already are still for this subscription: a moving client gets
    // them nowhere else.
    if (loop.bus.cluster().isAlone()) {
      end(subscription);
      return;
    }
    leaving = with(leaving, subscription);
    if (subscription.group() == null) {
      awaitArrival(subscription);
    } else {
      // A group chooses one bus: an event that arrives after the last Drained would reach no
      // member.
      deduplicated().withdraw(subscription);
      awaitWithdrawal(subscription);
    }
  }

  private void awaitWithdrawal(RoutedSubscription subscription) {
    loop.bus
        .cluster()
        .whenInterestPropagated(
            loop.router.loop(),
            known -> {
              if (!known && !closed && move.isPending()) {
                awaitWithdrawal(subscription);
              } else {
                awaitArrival(subscription);
              }
            });
  }

  private void awaitArrival(RoutedSubscription subscription) {
    loop.bus
        .cluster()
        .whenInboundDelivered(
            loop.router.loop(),
            arrived -> {
              if (arrived) {
                awaitStored(subscription);
              } else {
                arrived(subscription, false);
              }
            });
  }

  /** Waits for what is stored: the client has it from this bus, or its new one delivers it. */
  private void awaitStored(RoutedSubscription subscription) {
    StoredDelivery stored = loop.bus.stored();
    if (stored == null || closed) {
      arrived(subscription, true);
      return;
    }
    stored.whenDelivered(
        loop.router.loop(),
        index.account(),
        subscription.filter(),
        delivered -> arrived(subscription, delivered));
  }

  private void arrived(RoutedSubscription subscription, boolean all) {
    if (closed || !leaving.contains(subscription)) {
      return;
    }
    if (!all && move.isPending()) {
      // The client would believe that it has everything. The timeout of its move bounds this.
      awaitArrival(subscription);
      return;
    }
    leaving.remove(subscription);
    end(subscription);
  }

  /** Returns the set with one more element. Most sessions have an empty set most of the time. */
  private static Set<RoutedSubscription> with(
      Set<RoutedSubscription> set, RoutedSubscription more) {
    Set<RoutedSubscription> all = set.isEmpty() ? new HashSet<>(4) : set;
    all.add(more);
    return all;
  }

  private void end(RoutedSubscription subscription) {
    remove(subscription);
    sendLast(ControlFrames.encode(TypeCode.DRAINED, new Drained(subscription.id())));
  }

  /** Sends a frame after everything that was routed before on any loop. */
  private void sendLast(byte[] frame) {
    loop.bus
        .barrier()
        .afterAll(
            loop.router.loop(),
            () -> {
              if (!closed) {
                out.sendLast(frame);
              }
            });
  }

  private void confirm(TypeCode type, long id) {
    out.send(
        ControlFrames.encode(
            TypeCode.CONFIRM, new Confirm(type.code(), id, "", -1L, 0L, false, 0L)));
  }

  private void refuse(ErrorCode code, String message, long id) {
    refusal.refuse(code, message, id, TypeCode.SUBSCRIBE.code(), "");
  }

  /** Returns whether the client has unsubscribed from everything. */
  boolean hasUnsubscribedAll() {
    return unsubscribedAll;
  }

  /**
   * Returns the number of subscriptions and consumers that use memory, including those that are
   * ending.
   */
  int held() {
    return byId.size() + consumers.size() + leaving.size() + ofServices;
  }

  /**
   * Ends all subscriptions: at once or, if there are many, in later turns. The client has gone:
   * events offered to it until then are discarded.
   */
  void removeAll(Runnable removed) {
    closed = true;
    DeduplicatedSubscriptions all = deduplicated;
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
      share.releaseAll();
    }
    interest.releaseAll();
    unconfirmed = Set.of();
    leaving = Set.of();
    byId = Map.of();
  }

  /** Returns the number of subscriptions; any thread. */
  public int size() {
    return byId.size();
  }

  /** Returns the subscriptions; any thread. */
  public Collection<RoutedSubscription> list() {
    return List.copyOf(byId.values());
  }
}
