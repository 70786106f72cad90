package io.eventbus.server.session;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Guarantees for clients that need the peers of a bus.
 *
 * <p>All methods but {@link #isAlone}, {@link #refuse}, {@link #isLaneLocal} and {@link
 * #dropLargestBacklog} are called on a loop, and call back on that loop, perhaps at once. An
 * implementation must not block and must not throw, and must call back within a bounded time: with
 * false if the guarantee could not be kept.
 */
public interface ClusterGuarantees {
  /** Guarantees of a bus that serves alone: its own state is the state of the cluster. */
  ClusterGuarantees ALONE =
      new ClusterGuarantees() {
        @Override
        public boolean isAlone() {
          return true;
        }

        @Override
        public @Nullable String refuse(
            String account, String filter, @Nullable String group, InterestShare share) {
          return null;
        }

        @Override
        public void whenInterestPropagated(int loop, Consumer<Boolean> done) {
          done.accept(true);
        }

        @Override
        public void whenInboundDelivered(int loop, Consumer<Boolean> done) {
          done.accept(true);
        }

        @Override
        public void whenPublishedDelivered(int loop, long producer, Consumer<Boolean> done) {
          done.accept(true);
        }

        @Override
        public boolean dropLargestBacklog() {
          return false;
        }
      };

  /** Returns whether the bus has no peers; any thread. */
  boolean isAlone();

  /**
   * Checks whether peers can be told of a subscription and the client may add it; any thread.
   *
   * @param account account of the client; empty for the default account
   * @param group group of the subscription, null for none
   * @param share interest that the client's connection has already
   * @return null if so, else the reason for the client
   */
  @Nullable String refuse(
      String account, String filter, @Nullable String group, InterestShare share);

  /**
   * Checks whether peers can be told of a service and the client may add it; any thread.
   *
   * @param account account of the client; empty for the default account
   * @param share interest that the client's connection has already
   * @return null if so, else the reason for the client
   */
  default @Nullable String refuseService(String account, String service, InterestShare share) {
    return null;
  }

  /**
   * Waits until every peer routes by the subscriptions in the index now, and calls the services
   * that have members here now.
   *
   * @param done gets false if a peer did not confirm in time
   */
  void whenInterestPropagated(int loop, Consumer<Boolean> done);

  /**
   * Waits until all events that peers have routed to this bus before are in the queues of their
   * subscribers.
   *
   * @param done gets false if a peer did not confirm in time
   */
  void whenInboundDelivered(int loop, Consumer<Boolean> done);

  /**
   * Waits until all events that a producer has published here are in the queues of their
   * subscribers on every bus, and every peer routes by the subscriptions in the index now.
   *
   * @param done gets false if a peer did not confirm in time
   */
  void whenPublishedDelivered(int loop, long producer, Consumer<Boolean> done);

  /**
   * Returns whether a producer's events leave the bus on this loop, without a hop to another loop;
   * also true if no event leaves the bus. Any thread.
   */
  default boolean isLaneLocal(int loop, long producer) {
    return true;
  }

  /**
   * Frees memory at the bus's limit: drops the largest backlog of an unreachable peer. Returns
   * false if there is none. Any thread.
   */
  boolean dropLargestBacklog();
}
