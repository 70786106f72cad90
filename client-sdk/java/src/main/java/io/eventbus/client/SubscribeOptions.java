package io.eventbus.client;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Options of a subscription; immutable.
 *
 * @param group subscriptions of one group share the events: each event goes to one of them; null
 *     (the default) for none. After a reconnect of a publisher an event may reach a second member
 *     of a group; an event under way to a member whose connection is lost reaches none, see {@link
 *     Interruption}.
 * @param overflow policy for a subscription that does not read fast enough; default {@link
 *     Overflow#BLOCK}
 * @param bufferBytes maximum size of the events that wait in this client, 1 KiB to 1 GiB, default 4
 *     MiB. When more comes the policy acts on the events that wait for this subscription alone; one
 *     message of the bus may wait beside it. Only under {@link Overflow#BLOCK} the client accepts
 *     no more deliveries then, for any of its subscriptions. The bus is granted as much as fits
 *     into the smallest buffer, or of those under {@code BLOCK} into its free part, and 64 KiB at
 *     least while none is full; credit that was granted before a subscription with a smaller buffer
 *     is added stays valid. Answers of the bus come also while a buffer is full. With a bus that is
 *     too old for grants the client stops reading its connection instead.
 */
public record SubscribeOptions(@Nullable String group, Overflow overflow, int bufferBytes) {
  /** Options with no group, {@link Overflow#BLOCK}, 4 MiB. */
  public static final SubscribeOptions DEFAULT =
      new SubscribeOptions(null, Overflow.BLOCK, 4 * 1024 * 1024);

  /**
   * Checks the parts.
   *
   * @param group as above
   * @param overflow as above
   * @param bufferBytes as above
   * @throws IllegalArgumentException if one is out of range, saying which
   */
  public SubscribeOptions {
    Objects.requireNonNull(overflow, "overflow");
    Checks.range("bufferBytes", bufferBytes, 1024, 1024 * 1024 * 1024);
    if (group != null && (group.isEmpty() || group.length() > 255)) {
      throw new IllegalArgumentException(
          "group: " + group.length() + " characters (expected: 1..255)");
    }
  }

  /**
   * Returns options with another group.
   *
   * @param newGroup 1 to 255 bytes of UTF-8, or null for none
   * @return new options
   */
  public SubscribeOptions withGroup(@Nullable String newGroup) {
    return new SubscribeOptions(newGroup, overflow, bufferBytes);
  }

  /**
   * Returns options with another overflow policy.
   *
   * @param newOverflow the policy
   * @return new options
   */
  public SubscribeOptions withOverflow(Overflow newOverflow) {
    return new SubscribeOptions(group, newOverflow, bufferBytes);
  }

  /**
   * Returns options with another buffer size.
   *
   * @param newBufferBytes bytes, 1 KiB to 1 GiB
   * @return new options
   */
  public SubscribeOptions withBufferBytes(int newBufferBytes) {
    return new SubscribeOptions(group, overflow, newBufferBytes);
  }
}
