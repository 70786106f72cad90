package io.eventbus.server.routing;

/**
 * Hears which subscriptions of clients come into the index and leave it.
 *
 * <p>It is called under the index's lock by the thread that changes it, so it must return at once,
 * must not throw and must not call the index.
 */
public interface LocalSubscriptions {
  /** For a bus that serves alone. */
  LocalSubscriptions NOBODY =
      new LocalSubscriptions() {
        @Override
        public void added(RoutedSubscription subscription) {}

        @Override
        public void withdrawn(RoutedSubscription subscription) {}

        @Override
        public void removed(RoutedSubscription subscription) {}
      };

  /**
   * Returns what hears of the clients of an account. It may be called under a lock, too.
   *
   * @return this, if accounts make no difference
   */
  default LocalSubscriptions ofAccount(String account) {
    return this;
  }

  /** A client has subscribed. */
  void added(RoutedSubscription subscription);

  /**
   * A client's subscription will end, and other buses are to send nothing more for it.
   *
   * @param subscription that was added before
   */
  void withdrawn(RoutedSubscription subscription);

  /**
   * A client's subscription has ended.
   *
   * @param subscription that was added before, perhaps withdrawn
   */
  void removed(RoutedSubscription subscription);
}
