package io.eventbus.server.view;

import io.eventbus.server.balance.BalanceView;
import io.eventbus.server.cluster.ClusterView;
import io.eventbus.server.durable.JournalAdministration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Port through which the administration sees and controls a bus, implemented by the bus.
 *
 * <p>Several administration threads call it at once, at any time between start and stop. An
 * implementation must not block for longer than a few milliseconds (it may hand work to an event
 * loop but must not wait for it), must not throw, and returns immutable values that may be a little
 * old.
 */
public interface BusView {
  /** Returns the health of the bus. */
  BusHealth health();

  /** Returns the view of the cluster and its registry. */
  ClusterView cluster();

  /** Returns the view of the balance between buses. */
  BalanceView balance();

  /**
   * Returns the journals of durable topics, whose methods may wait for the disk; null if the bus
   * has none.
   */
  @Nullable JournalAdministration journals();

  /** Describes the bus. */
  BusSummary summary();

  /** Returns the figures for the metrics. */
  BusStats stats();

  /**
   * Returns open connections in the order of their numbers; fewer than {@code limit} only if there
   * are no more.
   *
   * @param account only connections of this account, empty for the default one; null for all
   * @param after only connections with a greater number
   */
  List<ConnectionView> connections(@Nullable String account, long after, int limit);

  /**
   * Returns the accounts that have clients, without the default one, by name; fewer than {@code
   * limit} only if there are no more.
   *
   * @param after only accounts whose name is greater, by {@link String#compareTo}; empty for all
   */
  List<AccountInfo> accounts(String after, int limit);

  /**
   * Returns an open connection, or nothing if it is not open.
   *
   * @return the connection, or nothing when it is not open
   */
  Optional<ConnectionDetail> connection(long id);

  /**
   * Begins to close a connection: the client gets a Close frame. Does not wait for the end.
   *
   * @param reason text for the client and the log, at most 100 characters
   */
  boolean disconnect(long id, String reason);

  /**
   * Returns known topics of an account by name; fewer than {@code limit} only if there are no more.
   *
   * @param account its name; empty for the default account
   * @param after only topics whose name is greater, by {@link String#compareTo}; empty for all
   */
  List<TopicInfo> topics(String account, String after, int limit);

  /**
   * Returns the services of an account that have members at this bus by name; fewer than {@code
   * limit} only if there are no more.
   *
   * @param account its name; empty for the default account
   * @param after only services whose name is greater, by {@link String#compareTo}; empty for all
   */
  List<ServiceInfo> services(String account, String after, int limit);

  /**
   * Returns a service.
   *
   * @param account its account; empty for the default one
   */
  Optional<ServiceDetail> service(String account, String name);

  /**
   * Drains a member of a service, as if it had asked for it: it gets no more calls, and answers
   * those that it has.
   */
  boolean drainMember(String account, String service, long member);

  /** Returns at most {@code limit} calls that have been in flight for longest. */
  List<CallInfo> slowestCalls(int limit);

  /**
   * Returns subscriptions in the order of their connections' numbers, then of their own; fewer than
   * {@code limit} only if there are no more.
   *
   * @param account only those of this account, empty for the default one; null for all
   * @param after only subscriptions greater than this one
   */
  List<SubscriptionInfo> subscriptions(@Nullable String account, SubscriptionKey after, int limit);

  /**
   * Returns the identities and accounts with quotas, in the order of their numbers; fewer than
   * {@code limit} only if there are no more.
   *
   * @param after only those with a greater number
   */
  List<QuotaInfo> quotas(long after, int limit);

  /**
   * Returns an identity or an account with quotas; none if there is no such client with a quota.
   *
   * @param account empty for the clients that have none
   * @param subject a name in the account, empty for the clients without one; null for all clients
   *     of the account
   */
  List<QuotaInfo> quotas(String account, @Nullable String subject);
}
