package io.eventbus.server.durable;

import io.eventbus.protocol.TopicFilter;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Delivery of what is stored to the subscribers of this bus. */
public interface StoredDelivery {
  /**
   * Waits until everything that was committed at any bus before, and that a filter may select, is
   * in the queues of the subscribers here.
   *
   * @param loop the loop of the caller, on which it is called back, perhaps at once
   * @param account account of the subscriber; empty for the default account
   * @param done gets false if that takes too long
   */
  void whenDelivered(int loop, String account, TopicFilter filter, Consumer<Boolean> done);

  /**
   * Returns the refusal of what an account publishes to durable topics now: each call of it counts
   * one more and returns the message. Null if there is room. Costs next to nothing.
   *
   * @param account empty for the default account
   */
  default @Nullable Supplier<String> refusal(String account) {
    return null;
  }

  /** Takes note that a journal has refused a publication, because it is at its limit. */
  default void full(int journal) {}
}
