package io.eventbus.server.session;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What a bus promises its clients of the whole cluster.
 *
 * <p>All methods but {@link #isAlone}, {@link #refuse}, {@link #leavesOn} and {@link #relieve} are
 * called on a loop, and call back on that loop, perhaps at once. An implementation must not block
 * and must not throw, and must call back within a bounded time: with false where the promise could
 * not be kept.
 */
public interface ClusterGuarantees {
  /** For a bus that serves alone: whatever holds here holds everywhere. */
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
        public void afterInterestApplied(int loop, Consumer<Boolean> done) {
          done.accept(true);
        }

        @Override
        public void afterInboundDelivered(int loop, Consumer<Boolean> done) {
          done.accept(true);
        }

        @Override
        public void afterPublishedDelivered(int loop, long producer, Consumer<Boolean> done) {
          done.accept(true);
        }

        @Override
        public boolean relieve() {
          return false;
        }
      };

  /**
   * Says whether there are no other buses; any thread.
   *
   * @return true if there are none
   */
  boolean isAlone();

  /**
   * Says whether a subscription would be more than the other buses can be told of, or more than the
   * client may bring; any thread.
   *
   * @param account whose it is; empty for the default account
   * @param group its group, null for none
   * @param share what the client's connection brings already
   * @return null if not, else what is wrong, for the client
   */
  @Nullable String refuse(
      String account, String filter, @Nullable String group, InterestShare share);

  /**
   * Says whether a service would be more than the other buses can be told of, or more than the
   * client may bring; any thread.
   *
   * @param account whose it is; empty for the default account
   * @param share what the client's connection brings already
   * @return null if not, else what is wrong, for the client
   */
  default @Nullable String refuseService(String account, String service, InterestShare share) {
    return null;
  }

  /**
   * Waits until every other bus routes by the subscriptions that are in the index now, and calls
   * the services that have members here now.
   *
   * @param done gets false if some bus did not say so in time
   */
  void afterInterestApplied(int loop, Consumer<Boolean> done);

  /**
   * Waits until all events that other buses had routed to this one before are in the queues of
   * their subscribers.
   *
   * @param done gets false if some bus did not say so in time
   */
  void afterInboundDelivered(int loop, Consumer<Boolean> done);

  /**
   * Waits until all events that a producer has published here are in the queues of their
   * subscribers, on whatever bus, and every other bus routes by the subscriptions that are in the
   * index now.
   *
   * @param done gets false if some bus did not say so in time
   */
  void afterPublishedDelivered(int loop, long producer, Consumer<Boolean> done);

  /**
   * Says whether what a producer publishes leaves the bus on a given loop, so that it need not
   * cross to another one first; any thread.
   *
   * @return true if so, or if nothing leaves the bus
   */
  default boolean leavesOn(int loop, long producer) {
    return true;
  }

  /**
   * Gives back memory at the bus's limit: nothing more is held for the bus for which the most is,
   * of those that cannot be reached. Any thread.
   *
   * @return false if there is none
   */
  boolean relieve();
}
