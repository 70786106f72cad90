package io.eventbus.client.internal.inbound;

import io.eventbus.client.EventBusException;
import org.jspecify.annotations.Nullable;

/**
 * Registration of a client at its bus under an id, over all its connections: a subscription or a
 * service. Its methods are called under the lock of {@link Subscriptions} and must not block.
 */
public interface Registration {
  long id();

  /** Returns the frame that asks the bus for it. */
  byte[] beginFrame();

  /** Returns the frame that tells the bus that it is not wanted any more. */
  byte[] endFrame();

  /** Returns whether the bus gives an event or call of it to one connection only. */
  boolean isExclusive();

  boolean isConfirmed();

  void confirm();

  /** Returns where events go that the bus delivers for it; null if nothing takes them. */
  @Nullable SubscriptionState events();

  void completeReady();

  void failReady(EventBusException failure);

  /** Returns whether the application has asked for the stage of its confirmation. */
  boolean isAwaited();

  /** Discards what waits, because the application was told that it has failed. */
  void discard();

  /** Ends it: nothing more comes from the bus; what is here is still handled. */
  void end();

  /** Ends it at once with the client. */
  void abandon();
}
