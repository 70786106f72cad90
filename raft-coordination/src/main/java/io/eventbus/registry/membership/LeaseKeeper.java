package io.eventbus.registry.membership;

import io.eventbus.registry.BusCommand;
import io.eventbus.registry.BusDescription;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.CommandId;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.Registry;
import io.eventbus.registry.RegistryClosedException;
import io.eventbus.registry.RegistryCommand;
import io.eventbus.registry.RegistryException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeper of a bus's registration: registers it, renews its lease three times in its length, and
 * begins a new life when the registry has taken the bus DOWN. Any thread may call any method; the
 * thread "registry-lease" does the work.
 *
 * <p>A command whose result is not known is repeated with its id until it is: it may have been
 * applied, and a second registration or change of state would be another one. A new renewal does no
 * harm, while a repeated one would only bring back an old lease.
 */
public final class LeaseKeeper implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(LeaseKeeper.class);

  private static final Duration MAX_WAIT = Duration.ofSeconds(5);

  private final Registry registry;
  private final BusDescription description;
  private final Duration lease;
  private final boolean ownsId;
  private final Consumer<CommandResult.BusRegistered> onLife;
  private final ScheduledThreadPoolExecutor worker;

  // The worker's thread only:
  private final List<CompletableFuture<Void>> waiting = new ArrayList<>();
  private BusState wanted = BusState.JOINING;
  private CommandResult.@Nullable BusRegistered life;
  private BusState reached = BusState.JOINING;
  private boolean busy;
  private @Nullable Unknown unknown;
  private boolean renewAtOnce;
  private @Nullable Future<?> nextTurn;

  /** Command that may have been applied. */
  private record Unknown(CommandId id, RegistryCommand command) {
    boolean isAbout(BusState state) {
      return command instanceof BusCommand.ChangeState change && change.next() == state;
    }
  }

  // Stages that were asked for and have not ended; any thread.
  private final Queue<CompletableFuture<Void>> open = new ConcurrentLinkedQueue<>();
  private volatile boolean closed;

  private volatile long renewedNanos = System.nanoTime();

  /**
   * Creates a keeper, to be started.
   *
   * @param ownsId whether a bus of this id that the registry knows can only have been this one, as
   *     with a data directory that was kept; then its lease need not run out first
   * @param onLife called with the new number whenever a life begins, on the worker's thread; it
   *     must not block
   */
  public LeaseKeeper(
      Registry registry,
      BusDescription description,
      Duration lease,
      boolean ownsId,
      Consumer<CommandResult.BusRegistered> onLife) {
    this.registry = Objects.requireNonNull(registry, "registry");
    this.description = Objects.requireNonNull(description, "description");
    this.lease = Objects.requireNonNull(lease, "lease");
    this.ownsId = ownsId;
    this.onLife = Objects.requireNonNull(onLife, "onLife");
    this.worker =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, "registry-lease-" + description.id());
              thread.setDaemon(true);
              return thread;
            });
    worker.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
    worker.setRemoveOnCancelPolicy(true);
  }

  /** Registers the bus and goes on renewing. */
  public CompletionStage<Void> start() {
    return become(BusState.JOINING);
  }

  /**
   * Changes the state of the bus, and again if it has to begin a new life.
   *
   * @param state UP, DRAINING or DOWN; after DOWN the lease is not renewed any more. JOINING only
   *     asks for a registration
   * @return a stage that completes when the registry knows the state, or with {@link
   *     RegistryClosedException} when this is closed before
   */
  public CompletionStage<Void> become(BusState state) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    open.add(done);
    if (closed) {
      endOpen();
      return done;
    }
    worker.execute(
        () -> {
          wanted = state;
          waiting.add(done);
          turn();
        });
    return done;
  }

  /** Returns the time since the lease was renewed. */
  public Duration age() {
    return Duration.ofNanos(Math.max(0, System.nanoTime() - renewedNanos));
  }

  /** Does the work that is due next, one command at a time. */
  private void turn() {
    if (busy) {
      return;
    }
    CommandResult.BusRegistered now = life;
    Unknown before = unknown;
    if (before != null && wanted == BusState.DOWN && !before.isAbout(BusState.DOWN)) {
      // After DOWN the command cannot have an effect any more.
      before = null;
      unknown = null;
    }
    if (before != null) {
      send(before.id(), before.command());
    } else if (wanted == BusState.DOWN && (now == null || reached == BusState.DOWN)) {
      // Nothing more may come, or the bus would begin another life.
      cancelNextTurn();
      finishWaiting();
    } else if (now == null) {
      submit(new BusCommand.Register(description, lastEpoch(), lease.toMillis()));
    } else if (reached != wanted && reached.canBecome(step())) {
      submit(new BusCommand.ChangeState(description.id(), now.epoch(), step()));
    } else {
      finishWaiting();
      schedule(this::renew, renewAtOnce ? 0 : lease.toMillis() / 3);
      renewAtOnce = false;
    }
  }

  private void finishWaiting() {
    waiting.forEach(done -> done.complete(null));
    waiting.clear();
    open.removeIf(CompletableFuture::isDone);
  }

  /** Returns the next state; from JOINING to DRAINING the way leads over UP. */
  private BusState step() {
    return wanted == BusState.DRAINING && reached == BusState.JOINING ? BusState.UP : wanted;
  }

  private long lastEpoch() {
    BusInfo known = registry.snapshot().bus(description.id());
    return ownsId && known != null ? known.epoch() : 0;
  }

  private void cancelNextTurn() {
    Future<?> before = nextTurn;
    if (before != null) {
      before.cancel(false);
    }
  }

  private void schedule(Runnable turn, long millis) {
    cancelNextTurn();
    nextTurn = worker.schedule(turn, Math.max(10, millis), TimeUnit.MILLISECONDS);
  }

  private void renew() {
    CommandResult.BusRegistered now = life;
    if (busy || now == null || unknown != null || wanted == BusState.DOWN) {
      turn();
    } else {
      submit(new BusCommand.RenewLease(description.id(), now.epoch(), lease.toMillis()));
    }
  }

  private void submit(RegistryCommand command) {
    send(registry.newCommandId(), command);
  }

  private void send(CommandId id, RegistryCommand command) {
    busy = true;
    Duration deadline = lease.compareTo(MAX_WAIT) < 0 ? lease : MAX_WAIT;
    var unused =
        registry
            .submit(id, command, deadline)
            .whenCompleteAsync((result, error) -> answered(id, command, result, error), worker);
  }

  private void answered(
      CommandId id,
      RegistryCommand command,
      @Nullable CommandResult result,
      @Nullable Throwable error) {
    busy = false;
    boolean repeated = unknown != null;
    unknown = null;
    if (result == null) {
      log.debug("The registry did not take what keeps the lease", error);
      if (!(command instanceof BusCommand.RenewLease) && (repeated || mayBeApplied(error))) {
        unknown = new Unknown(id, command);
      }
    } else if (result instanceof CommandResult.Refused refused) {
      refused(refused);
    } else {
      if (repeated) {
        // The command may have been applied long ago, and the lease be about to run out.
        renewAtOnce = true;
      } else {
        renewedNanos = System.nanoTime();
      }
      if (result instanceof CommandResult.BusRegistered registered) {
        log.info("Registered as bus number {}", registered.number());
        life = registered;
        reached = BusState.JOINING;
        onLife.accept(registered);
      } else if (result instanceof CommandResult.BusStateChanged changed) {
        reached = changed.to();
      }
      turn();
      return;
    }
    schedule(this::turn, lease.toMillis() / 10);
  }

  private static boolean mayBeApplied(@Nullable Throwable error) {
    Throwable cause =
        error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
    return !(cause instanceof RegistryException known) || known.maybeApplied();
  }

  private void refused(CommandResult.Refused refused) {
    switch (refused.reason()) {
      case BUS_IS_DOWN, STALE_EPOCH, UNKNOWN_BUS -> registerAgain(refused);
      case ILLEGAL_TRANSITION -> {
        BusState there = stateOfThisLife();
        if (there == null || there == BusState.DOWN) {
          registerAgain(refused);
        } else {
          // The bus is in that state already, or another command has changed it; this bus goes on
          // from there.
          log.info("This bus is {}: {}", there, refused.message());
          reached = there;
        }
      }
      default -> log.info("The registry refused: {}", refused.message());
    }
  }

  private void registerAgain(CommandResult.Refused refused) {
    log.warn("This bus has to register again: {}", refused.message());
    life = null;
  }

  /**
   * Returns the state of this life in the newest snapshot; null if that knows another life, or
   * none.
   */
  private @Nullable BusState stateOfThisLife() {
    CommandResult.BusRegistered now = life;
    BusInfo known = registry.snapshot().bus(description.id());
    return now == null || known == null || known.epoch() != now.epoch() ? null : known.state();
  }

  /** Stops renewing; the lease runs out by itself unless the bus became DOWN before. */
  @Override
  public void close() {
    closed = true;
    worker.shutdownNow();
    endOpen();
  }

  private void endOpen() {
    for (CompletableFuture<Void> done = open.poll(); done != null; done = open.poll()) {
      done.completeExceptionally(
          new RegistryClosedException("The keeper of the lease was closed", true));
    }
  }
}
