package io.eventbus.registry.state;

import io.eventbus.registry.CommandId;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.state.RegistryImage.Remembered;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Memory of the results of the last commands, for those that are repeated.
 *
 * <p>There are two generations. New results go into the young one; when it is full it becomes the
 * old one, and the old one is forgotten. So between {@code capacity} and twice as many are
 * remembered, forgetting costs nothing, and which results are forgotten depends only on the order
 * of the commands. Every command that was applied after {@code forgottenUpTo} is remembered.
 */
final class CommandMemory {
  private final SortedTree<CommandId, CommandResult> young;
  private final SortedTree<CommandId, CommandResult> old;
  private final long forgottenUpTo;

  /** Version of the last command in the old generation. */
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

  /**
   * Restores a memory from an image.
   *
   * @throws IllegalArgumentException if no memory with this capacity can hold that
   */
  static CommandMemory restore(RegistryImage image) {
    int capacity = image.limits().rememberedCommands();
    Images.range("young.size", image.young().size(), 0, capacity - 1L);
    Images.range("old.size", image.old().size(), 0, capacity);
    Images.range("oldUpTo", image.oldUpTo(), 0, image.version());
    Images.range("forgottenUpTo", image.forgottenUpTo(), 0, image.oldUpTo());
    return new CommandMemory(
        restore("young", image.young(), image.oldUpTo() + 1, image.version()),
        restore("old", image.old(), image.forgottenUpTo() + 1, image.oldUpTo()),
        image.forgottenUpTo(),
        image.oldUpTo());
  }

  private static SortedTree<CommandId, CommandResult> restore(
      String name, List<Remembered> results, long fromVersion, long toVersion) {
    SortedTree<CommandId, CommandResult> tree = SortedTree.empty();
    for (Remembered remembered : results) {
      Images.range(name + ".version", remembered.result().version(), fromVersion, toVersion);
      tree = tree.with(remembered.id(), remembered.result());
    }
    Images.distinct(name, tree.size(), results.size());
    return tree;
  }

  List<Remembered> young() {
    return listed(young);
  }

  List<Remembered> old() {
    return listed(old);
  }

  long oldUpTo() {
    return oldUpTo;
  }

  private static List<Remembered> listed(SortedTree<CommandId, CommandResult> tree) {
    List<Remembered> list = new ArrayList<>(tree.size());
    tree.forEach((id, result) -> list.add(new Remembered(id, result)));
    return list;
  }

  @Nullable CommandResult recall(CommandId id) {
    CommandResult result = young.get(id);
    return result != null ? result : old.get(id);
  }

  /** Returns the newest version whose command's result may be forgotten. */
  long forgottenUpTo() {
    return forgottenUpTo;
  }

  int size() {
    return young.size() + old.size();
  }

  /**
   * Returns a memory that also holds this result, which must be of a later version than all before.
   */
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
