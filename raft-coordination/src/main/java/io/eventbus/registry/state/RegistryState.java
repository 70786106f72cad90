package io.eventbus.registry.state;

import io.eventbus.registry.RegistrySnapshot;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * State of the state machine at one version. Immutable; any thread may read it.
 *
 * <p>States are equal if they came from equal first states by the same commands.
 */
public final class RegistryState {
  private final RegistryLimits limits;
  private final StateSnapshot snapshot;
  private final CommandMemory memory;

  /** Number for the next life of a bus; beyond an int when all were given out. */
  private final long nextNumber;

  RegistryState(
      RegistryLimits limits, StateSnapshot snapshot, CommandMemory memory, long nextNumber) {
    this.limits = limits;
    this.snapshot = snapshot;
    this.memory = memory;
    this.nextNumber = nextNumber;
  }

  /**
   * Creates an empty registry.
   *
   * @param limits its maximum sizes
   * @param firstNumber the number for the first bus, from 1. A registry that forgets everything at
   *     its end begins elsewhere each time, so that numbers of its former lives are not met again
   * @return the state with version 0
   * @throws IllegalArgumentException if the number is not positive
   */
  public static RegistryState empty(RegistryLimits limits, int firstNumber) {
    if (firstNumber < 1) {
      throw new IllegalArgumentException("firstNumber: " + firstNumber + " (expected: >= 1)");
    }
    return new RegistryState(
        Objects.requireNonNull(limits, "limits"),
        StateSnapshot.empty(),
        CommandMemory.empty(),
        firstNumber);
  }

  /**
   * Restores a state from an image.
   *
   * @throws IllegalArgumentException if no registry can have this state, saying why
   */
  public static RegistryState restore(RegistryImage image) {
    return new RegistryState(
        image.limits(),
        StateSnapshot.restore(image),
        CommandMemory.restore(image),
        image.nextNumber());
  }

  /** Returns an image of everything, to be written. */
  public RegistryImage image() {
    return new RegistryImage(
        limits,
        snapshot.version(),
        snapshot.timeMillis(),
        nextNumber,
        List.copyOf(snapshot.buses()),
        List.copyOf(snapshot.topics()),
        List.copyOf(snapshot.revocations()),
        List.copyOf(snapshot.shards()),
        memory.young(),
        memory.old(),
        memory.forgottenUpTo(),
        memory.oldUpTo());
  }

  /** Returns the snapshot for readers. */
  public RegistrySnapshot snapshot() {
    return snapshot;
  }

  /** Returns the maximum sizes of the registry. */
  public RegistryLimits limits() {
    return limits;
  }

  /**
   * Returns the number of commands whose results are remembered.
   *
   * @return at most twice {@link RegistryLimits#rememberedCommands()}
   */
  public int rememberedCommands() {
    return memory.size();
  }

  StateSnapshot view() {
    return snapshot;
  }

  CommandMemory memory() {
    return memory;
  }

  long nextNumber() {
    return nextNumber;
  }

  RegistryState with(StateSnapshot next, long nextFreeNumber) {
    return new RegistryState(limits, next, memory, nextFreeNumber);
  }

  RegistryState with(CommandMemory next) {
    return new RegistryState(limits, snapshot, next, nextNumber);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof RegistryState state
        && nextNumber == state.nextNumber
        && limits.equals(state.limits)
        && snapshot.equals(state.snapshot)
        && memory.equals(state.memory);
  }

  @Override
  public int hashCode() {
    return Objects.hash(limits, snapshot, memory, nextNumber);
  }

  @Override
  public String toString() {
    return snapshot.toString();
  }
}
