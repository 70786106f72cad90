package io.eventbus.server;

import io.eventbus.registry.BusAddresses;
import io.eventbus.registry.BusCommand;
import io.eventbus.registry.BusDescription;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusState;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.Registry;
import io.eventbus.registry.RegistryCommand;
import io.eventbus.server.config.BuildInfo;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Enters a bus into the registry when it starts. */
final class RegistryMembership {
  private static final int PROTOCOL_VERSION = 1;
  private static final String ZONE = "default";
  private static final Duration DEADLINE = Duration.ofSeconds(5);

  /** A bus that serves alone has nobody who could miss it: its lease only has to be legal. */
  private static final Duration LEASE = Duration.ofHours(24);

  private final Registry registry;
  private final BusDescription description;

  RegistryMembership(Registry registry, String name, List<String> urls) {
    this.registry = registry;
    this.description =
        new BusDescription(
            new BusId(name),
            new BusAddresses(urls, null, null, null),
            ZONE,
            BuildInfo.version(),
            PROTOCOL_VERSION);
  }

  /** Registers the bus and declares it UP. */
  void join() throws IOException {
    await(registry.start());
    CommandResult result = submit(new BusCommand.Register(description, 0, LEASE.toMillis()));
    if (!(result instanceof CommandResult.BusRegistered registered)) {
      throw new IOException("the registry refused bus " + description.id() + ": " + result);
    }
    CommandResult up =
        submit(new BusCommand.ChangeState(description.id(), registered.epoch(), BusState.UP));
    if (!(up instanceof CommandResult.BusStateChanged)) {
      throw new IOException(
          "the registry refused to declare bus " + description.id() + " UP: " + up);
    }
  }

  private CommandResult submit(RegistryCommand command) throws IOException {
    return await(registry.submit(command, DEADLINE));
  }

  private static <T> T await(CompletionStage<T> stage) throws IOException {
    try {
      return stage.toCompletableFuture().get(DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while joining the registry", e);
    } catch (ExecutionException e) {
      throw new IOException("the registry failed: " + e.getCause(), e);
    } catch (TimeoutException e) {
      throw new IOException("the registry did not answer within " + DEADLINE, e);
    }
  }
}
