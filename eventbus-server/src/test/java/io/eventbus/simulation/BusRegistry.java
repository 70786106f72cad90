package io.eventbus.simulation;

import io.eventbus.registry.CommandId;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.DatedSnapshot;
import io.eventbus.registry.ListenerRegistration;
import io.eventbus.registry.Registry;
import io.eventbus.registry.RegistryAdministration;
import io.eventbus.registry.RegistryCommand;
import io.eventbus.registry.RegistryLifecycle;
import io.eventbus.registry.RegistryListener;
import io.eventbus.registry.RegistrySnapshot;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** Copy of the registry at one bus, as its other parts see it. */
final class BusRegistry implements Registry {
  private final List<RegistryListener> listeners = new ArrayList<>();
  private RegistrySnapshot snapshot;

  BusRegistry(RegistrySnapshot first) {
    this.snapshot = first;
  }

  /** Updates to a newer state. */
  void update(RegistrySnapshot next) {
    if (next.version() > snapshot.version()) {
      snapshot = next;
      listeners.forEach(listener -> listener.onSnapshot(next, List.of()));
    }
  }

  @Override
  public RegistrySnapshot snapshot() {
    return snapshot;
  }

  @Override
  public ListenerRegistration addListener(RegistryListener listener) {
    listeners.add(listener);
    listener.onSnapshot(snapshot, List.of());
    return () -> listeners.remove(listener);
  }

  @Override
  public DatedSnapshot localRead() {
    return new DatedSnapshot(snapshot, Duration.ZERO);
  }

  @Override
  public RegistryLifecycle lifecycle() {
    return RegistryLifecycle.RUNNING;
  }

  @Override
  public CompletionStage<Void> start() {
    throw notModelled();
  }

  @Override
  public CompletionStage<RegistrySnapshot> linearizableRead(Duration deadline) {
    throw notModelled();
  }

  @Override
  public CompletionStage<CommandResult> submit(
      CommandId id, RegistryCommand command, Duration deadline) {
    throw notModelled();
  }

  @Override
  public RegistryAdministration administration() {
    throw notModelled();
  }

  @Override
  public CompletionStage<Void> shutdown(Duration deadline) {
    throw notModelled();
  }

  @Override
  public void close() {}

  private static UnsupportedOperationException notModelled() {
    return new UnsupportedOperationException("not modelled");
  }
}
