package io.eventbus.client.internal;

import io.eventbus.client.EventBusException;
import org.jspecify.annotations.Nullable;

/**
 * What a client has asked its bus for under an id, over all its connections: a subscription or a
 * service. Its methods are called under the lock of {@link Subscriptions} and must not block.
 */
interface Registration {
  long id();

  /** What asks the bus for it. */
  byte[] beginFrame();

  /** What tells the bus that it is not wanted any more. */
  byte[] endFrame();

  /** Whether the bus gives to nobody else what it has given to one connection for it. */
  boolean isExclusive();

  boolean isConfirmed();

  void confirm();

  /** Returns where events go that the bus delivers for it; null if nothing takes them. */
  @Nullable SubscriptionState events();

  void completeReady();

  void failReady(EventBusException failure);

  /** Whether the application has asked for the stage that tells of its confirmation. */
  boolean isAwaited();

  /** The application gets no more of it, because it was told that it has failed. */
  void discard();

  /** Nothing more comes from the bus; what is here is still handled. */
  void end();

  /** The client has ended. */
  void abandon();
}
