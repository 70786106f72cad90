package io.eventbus.registry.state;

import io.eventbus.registry.CommandId;
import io.eventbus.registry.CommandResult;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Remembers the results of the last commands, for those that are repeated.
 *
 * <p>There are two generations. New results go into the young one; when it is full it becomes the
 * old one, and the old one is forgotten. So between {@code capacity} and twice as many are
 * remembered, forgetting costs nothing, and what is forgotten depends on nothing but the order of
 * the commands. Every command that was applied after {@code forgottenUpTo} is remembered.
 */
final class CommandMemory {
  private final SortedTree<CommandId, CommandResult> young;
  private final SortedTree<CommandId, CommandResult> old;
  private final long forgottenUpTo;

  /** The version of the last command in the old generation. */
  private final long oldUpTo;

  private CommandMemory(
      SortedTree<CommandId, CommandResult> young,
      SortedTree<CommandId, CommandResult> old,
      long forgottenUpTo,
      long oldUpTo) {
    this.young = young;
    this.old = old;
    this.forgottenUpTo = forgottenUpTo;
    this.oldUpTo = oldUpTo;
  }

  static CommandMemory empty() {
    return new CommandMemory(SortedTree.empty(), SortedTree.empty(), 0, 0);
  }

  @Nullable CommandResult recall(CommandId id) {
    CommandResult result = young.get(id);
    return result != null ? result : old.get(id);
  }

  /** The newest version whose command's result may be forgotten. */
  long forgottenUpTo() {
    return forgottenUpTo;
  }

  int size() {
    return young.size() + old.size();
  }

  /** A memory that also holds this result, which must be of a later version than all before. */
  CommandMemory with(CommandId id, CommandResult result, int capacity) {
    SortedTree<CommandId, CommandResult> grown = young.with(id, result);
    if (grown.size() < capacity) {
      return new CommandMemory(grown, old, forgottenUpTo, oldUpTo);
    }
    return new CommandMemory(SortedTree.empty(), grown, oldUpTo, result.version());
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof CommandMemory memory
        && forgottenUpTo == memory.forgottenUpTo
        && oldUpTo == memory.oldUpTo
        && young.equals(memory.young)
        && old.equals(memory.old);
  }

  @Override
  public int hashCode() {
    return Objects.hash(young, old, forgottenUpTo, oldUpTo);
  }
}
