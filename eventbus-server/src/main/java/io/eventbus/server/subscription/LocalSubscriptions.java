package io.eventbus.server.subscription;

/**
 * Listener for the subscriptions of clients that enter and leave the index.
 *
 * <p>It is called under the index's lock by the thread that changes it, so it must return at once,
 * must not throw and must not call the index.
 */
public interface LocalSubscriptions {
  /** Listener of a bus that serves alone. */
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
   * Returns the listener for the clients of an account, which is this if accounts make no
   * difference. It may be called under a lock, too.
   */
  default LocalSubscriptions ofAccount(String account) {
    return this;
  }

  /** Called when a client has subscribed. */
  void added(RoutedSubscription subscription);

  /**
   * Called when a client's subscription will end, and peers are to send nothing more for it.
   *
   * @param subscription that was added before
   */
  void withdrawn(RoutedSubscription subscription);

  /**
   * Called when a client's subscription has ended.
   *
   * @param subscription that was added before, perhaps withdrawn
   */
  void removed(RoutedSubscription subscription);
}
