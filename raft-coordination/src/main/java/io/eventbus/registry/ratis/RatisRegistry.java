package io.eventbus.registry.ratis;

import io.eventbus.link.LinkNode;
import io.eventbus.raft.GateLimits;
import io.eventbus.registry.CommandId;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.DatedSnapshot;
import io.eventbus.registry.ListenerRegistration;
import io.eventbus.registry.Registry;
import io.eventbus.registry.RegistryAdministration;
import io.eventbus.registry.RegistryCommand;
import io.eventbus.registry.RegistryException;
import io.eventbus.registry.RegistryFailedException;
import io.eventbus.registry.RegistryLifecycle;
import io.eventbus.registry.RegistryListener;
import io.eventbus.registry.RegistryOverloadedException;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.registry.ratis.admin.Administration;
import io.eventbus.registry.ratis.admin.ClusterStatus;
import io.eventbus.registry.ratis.forward.CommandService;
import io.eventbus.registry.ratis.forward.LeaderRetry;
import io.eventbus.registry.ratis.join.SeedSource;
import java.time.Clock;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Registry of a bus in a cluster.
 *
 * <p>Beyond the port it guarantees: a command that has succeeded is on the disks of a majority of
 * the voters. Commands go to the leader over a link between buses, and are repeated until their
 * deadline while there is none. Every bus, voter or not, has the whole registry in memory.
 */
public final class RatisRegistry implements Registry {
  private static final Logger log = LoggerFactory.getLogger(RatisRegistry.class);

  private final RatisRegistryOptions options;
  private final RegistryMember member;
  private final Set<LeaderRetry<?>> open = ConcurrentHashMap.newKeySet();
  private final AtomicInteger waiting = new AtomicInteger();
  private final AtomicLong waitingBytes = new AtomicLong();
  private final CompletableFuture<Void> closed = new CompletableFuture<>();

  /** Guards changes of {@link #lifecycle}; nothing is waited for or called back under it. */
  private final Object lifecycleLock = new Object();

  private volatile RegistryLifecycle lifecycle = RegistryLifecycle.NEW;
  private final Administration administration;

  /**
   * Creates a registry, to be started.
   *
   * @param links this bus's links, which listen already; they are not closed with the registry
   */
  public RatisRegistry(RatisRegistryOptions options, LinkNode links, Clock clock) {
    this(options, options::seeds, links, clock);
  }

  /**
   * Creates a registry, to be started, that gets the addresses of other buses from a source.
   *
   * @param options settings of this bus; its seeds are ignored
   * @param source names the possible addresses of other buses
   * @param links this bus's links, which listen already; they are not closed with the registry
   */
  public RatisRegistry(
      RatisRegistryOptions options, SeedSource source, LinkNode links, Clock clock) {
    this.options = options;
    this.member = new RegistryMember(options, source, links, clock, this::failed);
    this.administration =
        new Administration(member, options.bus(), () -> lifecycle.notRunning(), open, clock);
  }

  @Override
  public CompletionStage<Void> start() {
    synchronized (lifecycleLock) {
      if (lifecycle != RegistryLifecycle.NEW) {
        throw new IllegalStateException("lifecycle: " + lifecycle + " (expected: NEW)");
      }
      lifecycle = RegistryLifecycle.STARTING;
    }
    CompletableFuture<Void> started = new CompletableFuture<>();
    var unused =
        member
            .start()
            .whenComplete(
                (nothing, error) -> {
                  if (error == null) {
                    begin();
                    started.complete(null);
                  } else {
                    started.completeExceptionally(startFailed(LeaderRetry.unwrap(error)));
                  }
                });
    return started.minimalCompletionStage();
  }

  private void begin() {
    synchronized (lifecycleLock) {
      if (lifecycle == RegistryLifecycle.STARTING) {
        lifecycle = RegistryLifecycle.RUNNING;
      }
    }
  }

  private RegistryException startFailed(Throwable cause) {
    if (lifecycle == RegistryLifecycle.STARTING) {
      // The caller that started it is told the cause.
      log.debug("The registry did not start", cause);
      becomeFailed();
    }
    return cause instanceof RegistryException known
        ? known
        : new RegistryFailedException(String.valueOf(cause.getMessage()), false);
  }

  @Override
  public RegistryLifecycle lifecycle() {
    return lifecycle;
  }

  @Override
  public RegistrySnapshot snapshot() {
    return member.state().snapshot();
  }

  @Override
  public DatedSnapshot localRead() {
    Duration age = member.silence();
    return new DatedSnapshot(snapshot(), age);
  }

  @Override
  public CompletionStage<RegistrySnapshot> linearizableRead(Duration deadline) {
    Registry.checkDeadline(deadline);
    return admitted(
        256,
        commands ->
            LeaderRetry.start(
                left ->
                    commands
                        .readIndex(left)
                        .thenCompose(index -> member.awaitApplied(index, left))
                        .thenApply(applied -> snapshot()),
                member.timers(),
                deadline,
                member::situation,
                open));
  }

  @Override
  public CompletionStage<CommandResult> submit(
      CommandId id, RegistryCommand command, Duration deadline) {
    Registry.checkDeadline(deadline);
    Objects.requireNonNull(id, "id");
    return admitted(
        command.estimatedBytes(),
        commands ->
            LeaderRetry.start(
                left -> commands.submit(id, command, left),
                member.timers(),
                deadline,
                member::situation,
                open));
  }

  @Override
  public RegistryAdministration administration() {
    return administration;
  }

  private interface Task<T> {
    CompletableFuture<T> start(CommandService commands);
  }

  /** Starts a task if there is room for it, and counts it until it is done. */
  private <T> CompletionStage<T> admitted(int bytes, Task<T> task) {
    RegistryLifecycle now = lifecycle;
    CommandService commands = member.commands();
    if (now != RegistryLifecycle.RUNNING || commands == null) {
      return CompletableFuture.failedStage(now.notRunning());
    }
    GateLimits limits = options.gate();
    int count = waiting.incrementAndGet();
    long total = waitingBytes.addAndGet(bytes);
    if (count > limits.maxQueuedCommands() || total > limits.maxQueuedBytes()) {
      release(bytes);
      return CompletableFuture.failedStage(
          new RegistryOverloadedException(
              "waiting: "
                  + count
                  + " commands, "
                  + total
                  + " bytes (expected: at most "
                  + limits.maxQueuedCommands()
                  + " commands, "
                  + limits.maxQueuedBytes()
                  + " bytes)"));
    }
    CompletableFuture<T> answer = task.start(commands);
    var unused = answer.whenComplete((result, error) -> release(bytes));
    return answer.minimalCompletionStage();
  }

  private void release(int bytes) {
    waiting.decrementAndGet();
    waitingBytes.addAndGet(-bytes);
  }

  @Override
  public ListenerRegistration addListener(RegistryListener listener) {
    return member.changes().add(Objects.requireNonNull(listener, "listener"));
  }

  @Override
  public CompletionStage<Void> shutdown(Duration deadline) {
    Registry.checkDeadline(deadline);
    synchronized (lifecycleLock) {
      if (lifecycle == RegistryLifecycle.CLOSING || lifecycle == RegistryLifecycle.CLOSED) {
        return closed.minimalCompletionStage();
      }
      lifecycle =
          lifecycle == RegistryLifecycle.NEW ? RegistryLifecycle.CLOSED : RegistryLifecycle.CLOSING;
    }
    var unused =
        member
            .stop(deadline)
            .whenComplete(
                (nothing, error) -> {
                  synchronized (lifecycleLock) {
                    lifecycle = RegistryLifecycle.CLOSED;
                  }
                  open.forEach(LeaderRetry::close);
                  closed.complete(null);
                });
    return closed.minimalCompletionStage();
  }

  @Override
  public void close() {
    shutdown(CLOSE_DEADLINE);
    if (member.changes().isOwnThread()) {
      return;
    }
    try {
      closed.get(CLOSE_DEADLINE.plusSeconds(1).toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      log.warn("The registry did not close within {}", CLOSE_DEADLINE, e);
    }
  }

  /** Returns the cluster as seen from here. */
  public ClusterStatus status() {
    return member.status();
  }

  /**
   * Describes the situation and the missing part: what a bus that has not joined yet waits for, or
   * which bus leads.
   */
  public String situation() {
    return member.situation();
  }

  private void failed(Throwable cause) {
    log.error("The registry has stopped on an error of its own", cause);
    becomeFailed();
  }

  private void becomeFailed() {
    synchronized (lifecycleLock) {
      if (lifecycle.canBecome(RegistryLifecycle.FAILED)) {
        lifecycle = RegistryLifecycle.FAILED;
      }
    }
  }
}
