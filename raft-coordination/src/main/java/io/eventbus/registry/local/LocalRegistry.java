package io.eventbus.registry.local;

import io.eventbus.registry.CommandId;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.DatedSnapshot;
import io.eventbus.registry.ListenerRegistration;
import io.eventbus.registry.Registry;
import io.eventbus.registry.RegistryAdministration;
import io.eventbus.registry.RegistryClosedException;
import io.eventbus.registry.RegistryCommand;
import io.eventbus.registry.RegistryException;
import io.eventbus.registry.RegistryFailedException;
import io.eventbus.registry.RegistryLifecycle;
import io.eventbus.registry.RegistryListener;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.registry.RevocationCommand;
import io.eventbus.registry.listeners.Listeners;
import io.eventbus.registry.state.Applied;
import io.eventbus.registry.state.RegistryState;
import io.eventbus.registry.state.StateMachine;
import io.eventbus.registry.state.TimedCommand;
import java.time.Clock;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Registry of a bus that runs alone: everything is in this process and ends with it.
 *
 * <p>Beyond the port it guarantees: when the stage of a command completes, {@link #snapshot()}
 * shows the command's effect and the listeners have been called. Commands are applied on the thread
 * "registry", in the order in which they were submitted. Leases do not run out by themselves: a bus
 * that is alone is alive as long as its registry is. The thread "registry-deadlines" fails late
 * commands.
 */
public final class LocalRegistry implements Registry {
  private static final Logger log = LoggerFactory.getLogger(LocalRegistry.class);

  private static final long EXPIRY_SECONDS = 10;

  private final LocalRegistryOptions options;
  private final Clock clock;
  private final CommandQueue queue;
  private final Listeners listeners;
  private final Thread thread;
  private final ScheduledThreadPoolExecutor deadlines;
  private final LocalAdministration administration;
  private final AtomicLong refusedForLoad = new AtomicLong();
  private final CompletableFuture<Void> closed = new CompletableFuture<>();

  /** Guards changes of {@link #lifecycle}; nothing is waited for or called back under it. */
  private final Object lifecycleLock = new Object();

  private volatile RegistryLifecycle lifecycle = RegistryLifecycle.NEW;
  private volatile RegistryState state;

  /** Creates a registry, to be started. */
  public LocalRegistry(LocalRegistryOptions options, Clock clock) {
    this.options = options;
    this.clock = Objects.requireNonNull(clock, "clock");
    this.queue = new CommandQueue(options.maxQueuedCommands(), options.maxQueuedBytes());
    this.listeners = new Listeners(options.maxListeners());
    this.administration = new LocalAdministration(() -> state, clock);
    this.state = RegistryState.empty(options.limits(), options.firstBusNumber());
    this.thread = daemon(this::run, "registry");
    this.deadlines = new ScheduledThreadPoolExecutor(1, r -> daemon(r, "registry-deadlines"));
    deadlines.setRemoveOnCancelPolicy(true);
    // A command that is watched after the end was answered before it: nothing is lost.
    deadlines.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
  }

  @Override
  public CompletionStage<Void> start() {
    synchronized (lifecycleLock) {
      if (lifecycle != RegistryLifecycle.NEW) {
        throw new IllegalStateException("lifecycle: " + lifecycle + " (expected: NEW)");
      }
      become(RegistryLifecycle.STARTING);
      thread.start();
      become(RegistryLifecycle.RUNNING);
    }
    Future<?> unused =
        deadlines.scheduleWithFixedDelay(
            this::expireSafely, EXPIRY_SECONDS, EXPIRY_SECONDS, TimeUnit.SECONDS);
    return CompletableFuture.completedStage(null);
  }

  @Override
  public RegistryLifecycle lifecycle() {
    return lifecycle;
  }

  @Override
  public RegistrySnapshot snapshot() {
    return state.snapshot();
  }

  @Override
  public DatedSnapshot localRead() {
    return new DatedSnapshot(snapshot(), Duration.ZERO);
  }

  @Override
  public CompletionStage<RegistrySnapshot> linearizableRead(Duration deadline) {
    Registry.checkDeadline(deadline);
    RegistryLifecycle now = lifecycle;
    return now == RegistryLifecycle.RUNNING
        ? CompletableFuture.completedStage(snapshot())
        : CompletableFuture.failedStage(now.notRunning());
  }

  @Override
  public CompletionStage<CommandResult> submit(
      CommandId id, RegistryCommand command, Duration deadline) {
    Registry.checkDeadline(deadline);
    Objects.requireNonNull(id, "id");
    RegistryLifecycle now = lifecycle;
    if (now != RegistryLifecycle.RUNNING) {
      return CompletableFuture.failedStage(now.notRunning());
    }
    PendingCommand pending = new PendingCommand(id, command, deadline);
    return switch (queue.offer(pending)) {
      case TAKEN -> {
        pending.watch(deadlines);
        yield pending.answer();
      }
      case FULL -> {
        refusedForLoad.incrementAndGet();
        yield CompletableFuture.failedStage(RegistryRefusals.overloaded(queue, pending, options));
      }
      case CLOSED -> CompletableFuture.failedStage(lifecycle.notRunning());
    };
  }

  @Override
  public RegistryAdministration administration() {
    return administration;
  }

  @Override
  public ListenerRegistration addListener(RegistryListener listener) {
    ListenerRegistration registration = listeners.add(Objects.requireNonNull(listener, "listener"));
    queue.wake();
    return registration;
  }

  @Override
  public CompletionStage<Void> shutdown(Duration deadline) {
    Registry.checkDeadline(deadline);
    boolean nothingRuns;
    synchronized (lifecycleLock) {
      if (lifecycle == RegistryLifecycle.CLOSING || lifecycle == RegistryLifecycle.CLOSED) {
        return closed.minimalCompletionStage();
      }
      nothingRuns = lifecycle != RegistryLifecycle.RUNNING;
      become(
          lifecycle == RegistryLifecycle.NEW
              ? RegistryLifecycle.CLOSED
              : RegistryLifecycle.CLOSING);
    }
    queue.close();
    if (nothingRuns) {
      finish();
    } else {
      Future<?> unused =
          deadlines.schedule(this::abandon, deadline.toNanos(), TimeUnit.NANOSECONDS);
    }
    return closed.minimalCompletionStage();
  }

  @Override
  public void close() {
    shutdown(CLOSE_DEADLINE);
    if (Thread.currentThread() == thread) {
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

  /** Returns the number of waiting commands. */
  public int queuedCommands() {
    return queue.size();
  }

  /**
   * Returns the memory that the waiting commands occupy.
   *
   * @return an upper estimate in bytes
   */
  public long queuedBytes() {
    return queue.bytes();
  }

  /** Returns the number of commands that were refused because too many were waiting. */
  public long commandsRefusedForLoad() {
    return refusedForLoad.get();
  }

  /** Returns the number of exceptions from listeners. */
  public long listenerFailures() {
    return listeners.failures();
  }

  private void run() {
    try {
      while (lifecycle != RegistryLifecycle.CLOSED && !queue.isDone()) {
        PendingCommand command = queue.take();
        listeners.greet(snapshot());
        if (command != null && command.take()) {
          apply(command);
        }
      }
      finish();
    } catch (InterruptedException e) {
      // Only abandon() interrupts, and it has done the rest.
      log.debug("The registry's thread ends on an interrupt", e);
    } catch (Throwable e) {
      // The callers that wait must hear of any error; a half-applied state was not published.
      fail(e);
    }
  }

  /** Expires revocations; after an exception the timer would not do so again. */
  void expireSafely() {
    try {
      expireRevocations();
    } catch (RuntimeException e) {
      log.warn("Revocations could not be expired", e);
    }
  }

  /** Expires revocations, as a leader does in a cluster. */
  void expireRevocations() {
    long now = clock.millis();
    boolean due = snapshot().revocations().stream().anyMatch(each -> each.isExpiredAt(now));
    if (due) {
      CompletionStage<CommandResult> unused =
          submit(new RevocationCommand.Expire(), Duration.ofSeconds(EXPIRY_SECONDS));
    }
  }

  private void apply(PendingCommand command) {
    long timeMillis = Math.max(0, clock.millis());
    Applied applied =
        StateMachine.apply(state, new TimedCommand(command.id, timeMillis, command.command));
    long versionBefore = snapshot().version();
    state = applied.state();
    if (snapshot().version() != versionBefore) {
      listeners.tell(snapshot(), applied.changes());
    }
    command.succeed(applied.result());
  }

  private void fail(Throwable cause) {
    log.error("The registry has stopped on an error of its own", cause);
    synchronized (lifecycleLock) {
      if (lifecycle.canBecome(RegistryLifecycle.FAILED)) {
        become(RegistryLifecycle.FAILED);
      }
    }
    queue.close();
    String message = "the registry has stopped: " + cause;
    failAll(
        new RegistryFailedException(message, false), new RegistryFailedException(message, true));
    if (lifecycle == RegistryLifecycle.CLOSING) {
      finish();
    }
  }

  /** Ends at the deadline of the shutdown: a listener blocks, or there was too much to do. */
  private void abandon() {
    if (closed.isDone()) {
      return;
    }
    String message = "the registry was closed before the command was done";
    failAll(
        new RegistryClosedException(message, false), new RegistryClosedException(message, true));
    finish();
    thread.interrupt();
  }

  private void failAll(RegistryException waiting, RegistryException taken) {
    for (PendingCommand command : queue.drain()) {
      command.failWaiting(waiting);
      command.failTaken(taken);
    }
  }

  private void finish() {
    synchronized (lifecycleLock) {
      if (lifecycle == RegistryLifecycle.CLOSING) {
        become(RegistryLifecycle.CLOSED);
      }
    }
    deadlines.shutdownNow();
    closed.complete(null);
  }

  private void become(RegistryLifecycle next) {
    if (!lifecycle.canBecome(next)) {
      throw new IllegalStateException("lifecycle: " + lifecycle + " (cannot become " + next + ")");
    }
    lifecycle = next;
  }

  private static Thread daemon(Runnable task, String name) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }
}
