package io.eventbus.loadtest.coordination.eventbus;

import io.eventbus.link.LinkNode;
import io.eventbus.loadtest.coordination.CoordinationClient;
import io.eventbus.loadtest.coordination.CoordinationException;
import io.eventbus.loadtest.coordination.Put;
import io.eventbus.loadtest.coordination.Register;
import io.eventbus.registry.CommandId;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.Endpoint;
import io.eventbus.registry.RefusalReason;
import io.eventbus.registry.RegistryCommand;
import io.eventbus.registry.RegistryException;
import io.eventbus.registry.TopicCommand;
import io.eventbus.registry.TopicSpec;
import io.eventbus.registry.ratis.RegistryClient;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A client of the registry. A register is the configuration of a topic; each write is a compare and
 * set with an id, so that a repetition gets the first result.
 */
final class RegistryWriter implements CoordinationClient {
  private static final Duration DEADLINE = Duration.ofSeconds(10);

  private record Identity(CommandId id, RegistryCommand command) {}

  /** What this client knows of a register that it alone writes. */
  private record Known(long revision, long writes) {}

  private final LinkNode links;
  private final String channel;
  private final RegistryClient client;
  private final List<InetSocketAddress> servers;
  private final AtomicInteger near;
  private final AtomicLong newest;
  private final Map<String, Known> known = new ConcurrentHashMap<>();

  /**
   * Makes a client.
   *
   * @param newest the newest version that this process has seen, as a bus knows it from its
   *     snapshot
   */
  RegistryWriter(LinkNode links, int number, List<Endpoint> servers, AtomicLong newest) {
    this.newest = newest;
    this.links = links;
    this.channel = "client-" + number;
    this.client = new RegistryClient(links, channel, servers);
    this.servers = servers.stream().map(RegistryControl::address).toList();
    this.near = new AtomicInteger(number % servers.size());
  }

  private static TopicSpec spec(String register, String value) {
    return new TopicSpec(register, Map.of(RegistryControl.SETTING, value));
  }

  @Override
  public void create(String register, String value) {
    CommandResult result =
        await(
            submit(CommandId.random(newest.get()), new TopicCommand.Create(spec(register, value))));
    if (!(result instanceof CommandResult.TopicCreated created)) {
      throw new CoordinationException("refused", result.toString());
    }
    known.put(register, new Known(created.version(), 0));
  }

  @Override
  public void write(Put put) {
    await(writeLater(put));
  }

  @Override
  public CompletableFuture<Void> writeLater(Put put) {
    Known before = known.getOrDefault(put.register(), new Known(0, 0));
    Identity identity = (Identity) put.identity();
    if (identity == null) {
      identity =
          new Identity(
              CommandId.random(newest.get()),
              new TopicCommand.Change(spec(put.register(), put.value()), before.revision()));
      put.identify(identity);
    }
    return submit(identity.id(), identity.command())
        .thenAccept(
            result -> {
              if (result instanceof CommandResult.TopicChanged changed) {
                known.put(put.register(), new Known(changed.version(), before.writes() + 1));
              } else {
                if (result instanceof CommandResult.Refused refused
                    && refused.reason() == RefusalReason.ID_FORGOTTEN) {
                  // With a new id; the revision keeps it from being applied twice.
                  put.identify(null);
                }
                throw new CoordinationException("refused", result.toString());
              }
            });
  }

  private CompletableFuture<CommandResult> submit(CommandId id, RegistryCommand command) {
    return client
        .submit(id, command, DEADLINE)
        .handle(
            (result, error) -> {
              if (error != null) {
                throw told(error);
              }
              newest.accumulateAndGet(result.version(), Math::max);
              return result;
            })
        .toCompletableFuture();
  }

  @Override
  public Register read(String register) {
    return read(RegistryControl.READ, register);
  }

  @Override
  public Register readNewest(String register) {
    Register read = read(RegistryControl.READ_NEWEST, register);
    Known mine = known.getOrDefault(register, new Known(0, 0));
    long others = read.version() == mine.revision() ? 0 : 1;
    return new Register(register, read.value(), read.version(), mine.writes() + others);
  }

  private Register read(int service, String register) {
    int server = near.get();
    try {
      return RegistryControl.register(
          RegistryControl.ask(links, servers.get(server), channel + "-near", service, register));
    } catch (CoordinationException e) {
      near.compareAndSet(server, (server + 1) % servers.size());
      throw e;
    }
  }

  @Override
  public boolean replace(Register read, String value) {
    newest.accumulateAndGet(read.version(), Math::max);
    CommandResult result =
        await(
            submit(
                CommandId.random(newest.get()),
                new TopicCommand.Change(spec(read.name(), value), read.version())));
    if (result instanceof CommandResult.TopicChanged) {
      return true;
    }
    if (result instanceof CommandResult.Refused refused
        && refused.reason() == RefusalReason.STALE_REVISION) {
      return false;
    }
    throw new CoordinationException("refused", result.toString());
  }

  private static <T> T await(CompletableFuture<T> future) {
    try {
      return future.get(DEADLINE.toSeconds() + 1, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CoordinationException("interrupted", e);
    } catch (ExecutionException e) {
      throw told(e.getCause() == null ? e : e.getCause());
    } catch (TimeoutException e) {
      throw new CoordinationException("timeout", e);
    }
  }

  private static CoordinationException told(Throwable error) {
    Throwable cause =
        error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
    if (cause instanceof CoordinationException known) {
      return known;
    }
    return new CoordinationException(
        cause instanceof RegistryException ? cause.getClass().getSimpleName() : "other", cause);
  }

  @Override
  public void close() {
    client.close();
  }
}
