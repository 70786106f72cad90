package io.eventbus.server.durable;

import java.util.UUID;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Owner of the cursors of this bus's consumers. Any thread calls its functions, which must not
 * wait.
 *
 * @param name text that names this life of this bus and no other, of at most {@link
 *     io.eventbus.journal.CursorView#MAX_OWNER_BYTES}
 * @param isGone whether another owner has ended, so that its cursors can be taken over
 */
public record CursorOwner(Supplier<String> name, Predicate<String> isGone) {
  /** Returns the owner for a bus that serves alone: every other one is gone. */
  public static CursorOwner alone(String bus) {
    String name = bus + "/" + UUID.randomUUID();
    return new CursorOwner(() -> name, owner -> !owner.equals(name));
  }
}
