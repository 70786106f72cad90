package io.eventbus.registry;

/** Registration of a listener by {@link Registry#addListener}, which this can end. */
@FunctionalInterface
public interface ListenerRegistration extends AutoCloseable {
  /**
   * Stops the listener. No call begins after this returns, but one that runs on another thread may
   * still be finishing. Doing it again has no effect. Any thread may call it.
   */
  @Override
  void close();
}
