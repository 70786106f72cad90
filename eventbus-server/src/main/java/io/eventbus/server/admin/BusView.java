package io.eventbus.server.admin;

import io.eventbus.server.balance.BalanceView;
import io.eventbus.server.cluster.ClusterView;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What the administration port sees of a bus and may do to it: a port, implemented by the bus.
 *
 * <p>Several administration threads call it at once, at any time between start and stop. An
 * implementation must not block for longer than a few milliseconds (it may hand work to an event
 * loop but must not wait for it), must not throw, and returns immutable values that may be a little
 * old.
 */
public interface BusView {
  /** Tells how the bus is. */
  BusHealth health();

  /** Gives access to the cluster and its registry. */
  ClusterView cluster();

  /** Gives access to the balance between buses. */
  BalanceView balance();

  /** Describes the bus. */
  BusSummary summary();

  /** Takes the figures for the metrics. */
  BusStats stats();

  /**
   * Lists open connections in the order of their numbers.
   *
   * @param account only connections of this account, empty for the default one; null for all
   * @param after only connections with a greater number
   * @param limit at most so many
   * @return connections, fewer than {@code limit} only when there are no more
   */
  List<ConnectionView> connections(@Nullable String account, long after, int limit);

  /**
   * Lists the accounts that have clients, without the default one, by name.
   *
   * @param after only accounts whose name is greater, by {@link String#compareTo}; empty for all
   * @param limit at most so many
   * @return accounts, fewer than {@code limit} only when there are no more
   */
  List<AccountInfo> accounts(String after, int limit);

  /**
   * Finds an open connection.
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
   * Lists known topics of an account by name.
   *
   * @param account whose; empty for the default account
   * @param after only topics whose name is greater, by {@link String#compareTo}; empty for all
   * @param limit at most so many
   * @return topics, fewer than {@code limit} only when there are no more
   */
  List<TopicInfo> topics(String account, String after, int limit);

  /**
   * Lists the services of an account that have members at this bus by name.
   *
   * @param account whose; empty for the default account
   * @param after only services whose name is greater, by {@link String#compareTo}; empty for all
   * @param limit at most so many
   * @return services, fewer than {@code limit} only when there are no more
   */
  List<ServiceInfo> services(String account, String after, int limit);

  /**
   * Finds a service.
   *
   * @param account whose; empty for the default account
   */
  Optional<ServiceDetail> service(String account, String name);

  /**
   * Takes a client out of a service, as if it had asked for it: it gets no more calls, and answers
   * those that it has.
   */
  boolean drainMember(String account, String service, long member);

  /**
   * Lists the calls that have been under way for longest.
   *
   * @param limit at most so many
   */
  List<CallInfo> slowestCalls(int limit);

  /**
   * Lists subscriptions in the order of their connections' numbers, then of their own.
   *
   * @param account only those of this account, empty for the default one; null for all
   * @param after only subscriptions greater than this one
   * @param limit at most so many
   * @return subscriptions, fewer than {@code limit} only when there are no more
   */
  List<SubscriptionInfo> subscriptions(@Nullable String account, SubscriptionKey after, int limit);

  /**
   * Lists the identities and accounts for which there are quotas, in the order of their numbers.
   *
   * @param after only those with a greater number
   * @param limit at most so many
   * @return what they use, fewer than {@code limit} only when there are no more
   */
  List<QuotaInfo> quotas(long after, int limit);

  /**
   * Finds an identity or an account for which there are quotas.
   *
   * @param account empty for the clients that have none
   * @param subject a name in the account, empty for the clients without one; null for all clients
   *     of the account
   * @return what they use; none where there is no such client with a quota
   */
  List<QuotaInfo> quotas(String account, @Nullable String subject);
}
