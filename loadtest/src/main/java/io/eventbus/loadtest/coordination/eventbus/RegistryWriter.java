package io.eventbus.loadtest.coordination.eventbus;

import io.eventbus.link.LinkNode;
import io.eventbus.loadtest.coordination.CoordinationClient;
import io.eventbus.loadtest.coordination.CoordinationException;
import io.eventbus.loadtest.coordination.Counter;
import io.eventbus.loadtest.coordination.Put;
import io.eventbus.loadtest.coordination.Register;
import io.eventbus.registry.CommandId;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.Endpoint;
import io.eventbus.registry.RegistryCommand;
import io.eventbus.registry.RegistryException;
import io.eventbus.registry.RegistryRefusalReason;
import io.eventbus.registry.TopicCommand;
import io.eventbus.registry.TopicSpec;
import io.eventbus.registry.ratis.forward.RegistryClient;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
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
  private static final Duration CREATE = Duration.ofSeconds(10);

  /**
   * A write as it is sent.
   *
   * @param doubtful whether an attempt before may have been carried out
   */
  private record Attempt(CommandId id, RegistryCommand command, boolean doubtful) {
    Attempt inDoubt() {
      return new Attempt(id, command, true);
    }
  }

  private final LinkNode links;
  private final String channel;
  private final RegistryClient client;
  private final List<InetSocketAddress> servers;
  private final AtomicInteger near;
  private final AtomicLong newest;

  /** The revisions of registers that this client alone writes. */
  private final Map<String, Long> revisions = new ConcurrentHashMap<>();

  /**
   * Creates a client.
   *
   * @param newest the newest version that this process has seen, as a bus knows it from its
   *     snapshot; shared by all clients of the process
   */
  RegistryWriter(LinkNode links, int number, List<Endpoint> servers, int near, AtomicLong newest) {
    this.newest = newest;
    this.links = links;
    this.channel = "client-" + number;
    this.client = new RegistryClient(links, channel, servers);
    this.servers = servers.stream().map(RegistryControl::address).toList();
    this.near = new AtomicInteger(near);
  }

  private static TopicSpec spec(String register, String value) {
    return new TopicSpec(register, Map.of(RegistryControl.SETTING, value));
  }

  @Override
  public void create(String register, String value) {
    CommandResult result =
        submit(
            CommandId.random(newest.get()), new TopicCommand.Create(spec(register, value)), CREATE);
    if (result instanceof CommandResult.TopicCreated created) {
      revisions.put(register, created.version());
    } else if (result instanceof CommandResult.Refused refused
        && refused.reason() == RegistryRefusalReason.TOPIC_EXISTS) {
      // An attempt before was carried out after all.
      revisions.put(register, readNewest(register).version());
    } else {
      throw new CoordinationException("refused", result.toString());
    }
  }

  @Override
  public void write(Put put) {
    Attempt noted = (Attempt) put.identity();
    Attempt attempt =
        noted == null ? attempt(put, revisions.getOrDefault(put.register(), 0L), false) : noted;
    // Without an answer it is repeated as a write that may have been carried out.
    put.identify(attempt.inDoubt());
    CommandResult result = submit(attempt.id(), attempt.command(), DEADLINE);
    if (result instanceof CommandResult.TopicChanged changed) {
      revisions.put(put.register(), changed.version());
      return;
    }
    if (result instanceof CommandResult.Refused refused) {
      if (refused.reason() == RegistryRefusalReason.ID_FORGOTTEN) {
        // With a new id; the revision keeps it from being applied twice.
        put.identify(new Attempt(CommandId.random(newest.get()), attempt.command(), true));
      } else if (refused.reason() == RegistryRefusalReason.STALE_REVISION) {
        stale(put, attempt, result);
        return;
      }
    }
    throw new CoordinationException("refused", result.toString());
  }

  private Attempt attempt(Put put, long revision, boolean doubtful) {
    return new Attempt(
        CommandId.random(newest.get()),
        new TopicCommand.Change(spec(put.register(), put.value()), revision),
        doubtful);
  }

  /** Finds out who has changed the register: this client, if an attempt is in doubt; or a fault. */
  private void stale(Put put, Attempt attempt, CommandResult result) {
    Register read = read(RegistryControl.READ_NEWEST, put.register());
    revisions.put(put.register(), read.version());
    if (attempt.doubtful() && read.value().equals(put.value())) {
      return;
    }
    put.identify(attempt(put, read.version(), attempt.doubtful()));
    throw new CoordinationException(
        attempt.doubtful() ? "refused" : CoordinationException.FOREIGN,
        result + ", found revision " + read.version());
  }

  private CommandResult submit(CommandId id, RegistryCommand command, Duration deadline) {
    CommandResult result =
        await(client.submit(id, command, deadline).toCompletableFuture(), deadline);
    newest.accumulateAndGet(result.version(), Math::max);
    return result;
  }

  @Override
  public Register read(String register) {
    return read(RegistryControl.READ, register);
  }

  /** The servers count what they apply; the one that has seen most of it is right. */
  @Override
  public Register readNewest(String register) {
    Register read = read(RegistryControl.READ_NEWEST, register);
    long repeated = 0;
    for (InetSocketAddress server : servers) {
      repeated = Math.max(repeated, repeated(server, register));
    }
    return read.isAbsent()
        ? read
        : new Register(register, read.value(), read.version(), Counter.of(read.value()) + repeated);
  }

  private long repeated(InetSocketAddress server, String register) {
    try {
      return RegistryControl.number(
          RegistryControl.ask(links, server, channel, RegistryControl.REPEATED, register));
    } catch (CoordinationException e) {
      // A killed server does not answer; the others have applied the same.
      return 0;
    }
  }

  private Register read(int service, String register) {
    int server = near.get();
    try {
      // Over the connection of the commands, where the same server takes those.
      return RegistryControl.register(
          RegistryControl.ask(links, servers.get(server), channel, service, register));
    } catch (CoordinationException e) {
      near.compareAndSet(server, (server + 1) % servers.size());
      throw e;
    }
  }

  @Override
  public boolean replace(Register read, String value) {
    newest.accumulateAndGet(read.version(), Math::max);
    CommandResult result =
        submit(
            CommandId.random(newest.get()),
            new TopicCommand.Change(spec(read.name(), value), read.version()),
            DEADLINE);
    if (result instanceof CommandResult.TopicChanged) {
      return true;
    }
    if (result instanceof CommandResult.Refused refused
        && refused.reason() == RegistryRefusalReason.STALE_REVISION) {
      return false;
    }
    throw new CoordinationException("refused", result.toString());
  }

  private static <T> T await(CompletableFuture<T> future, Duration deadline) {
    try {
      // The future ends by itself within the deadline.
      return future.get(2 * deadline.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CoordinationException("interrupted", e);
    } catch (ExecutionException e) {
      throw told(e.getCause() == null ? e : e.getCause());
    } catch (TimeoutException e) {
      throw new CoordinationException("timeout", e);
    }
  }

  private static CoordinationException told(Throwable cause) {
    return new CoordinationException(
        cause instanceof RegistryException ? cause.getClass().getSimpleName() : "other", cause);
  }

  @Override
  public void close() {
    client.close();
  }
}
