package io.eventbus.registry.ratis.forward;

import io.eventbus.link.LinkNode;
import io.eventbus.registry.CommandId;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.Endpoint;
import io.eventbus.registry.Registry;
import io.eventbus.registry.RegistryCommand;
import io.eventbus.registry.codec.RegistryCodec;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Sender of commands to a cluster from a process that is no member of it.
 *
 * <p>It knows some buses, asks one after the other until it meets the leader, and stays with that
 * one while it leads. Any thread may call any method; stages are completed on the threads that move
 * the bytes of links, so code that depends on them must not block.
 */
public final class RegistryClient implements AutoCloseable {
  /** Time after which a silent bus is left for the next one. */
  private static final Duration MAX_ATTEMPT = Duration.ofSeconds(2);

  private final LinkNode links;
  private final String channel;
  private final List<InetSocketAddress> buses;
  private final AtomicInteger current = new AtomicInteger();
  private final Set<LeaderRetry<?>> open = ConcurrentHashMap.newKeySet();
  private final ScheduledThreadPoolExecutor timers;

  /**
   * Creates a client; it connects at the first command.
   *
   * @param links opens the links; they are not closed with the client
   * @param channel clients with the same channel share a connection; as for {@link LinkNode#call},
   *     at most 55 characters
   * @throws IllegalArgumentException if there is no bus
   */
  public RegistryClient(LinkNode links, String channel, List<Endpoint> buses) {
    if (buses.isEmpty()) {
      throw new IllegalArgumentException("buses: none (expected: at least one)");
    }
    this.links = links;
    this.channel = Services.COMMANDS + "." + channel;
    this.buses = buses.stream().map(Endpoint::unresolved).toList();
    this.timers =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, "registry-client-" + channel);
              thread.setDaemon(true);
              return thread;
            });
    timers.setRemoveOnCancelPolicy(true);
  }

  /**
   * Submits a command, as {@link Registry#submit(CommandId, RegistryCommand, Duration)} does.
   *
   * @param deadline the longest time to wait: more than zero, at most {@link Registry#MAX_DEADLINE}
   */
  public CompletionStage<CommandResult> submit(
      CommandId id, RegistryCommand command, Duration deadline) {
    byte[] request = RegistryCodec.encodeCommand(id, command);
    return LeaderRetry.start(
            left -> attempt(request, left), timers, deadline, this::situation, open)
        .minimalCompletionStage();
  }

  private CompletableFuture<CommandResult> attempt(byte[] request, Duration left) {
    int index = current.get();
    InetSocketAddress bus = buses.get(index % buses.size());
    Duration limit = left.compareTo(MAX_ATTEMPT) < 0 ? left : MAX_ATTEMPT;
    return links
        .call(bus, channel, Services.COMMAND, request, limit)
        .thenCompose(CommandService::result)
        .exceptionallyCompose(
            error -> {
              if (!CommandService.isOverload(error)) {
                current.compareAndSet(index, (index + 1) % buses.size());
              }
              return CommandService.failure(error);
            });
  }

  private String situation() {
    return "buses: " + buses + ", asked last: " + buses.get(current.get() % buses.size());
  }

  /** Fails the commands that wait for an answer; the links stay open. */
  @Override
  public void close() {
    // First: a command that begins after that is refused by the timers.
    timers.shutdownNow();
    open.forEach(LeaderRetry::close);
  }
}
