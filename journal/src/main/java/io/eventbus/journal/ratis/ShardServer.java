package io.eventbus.journal.ratis;

import io.eventbus.journal.JournalCatalog;
import io.eventbus.journal.JournalsUnavailableException;
import io.eventbus.journal.KeepPolicy;
import io.eventbus.journal.ReadBatch;
import io.eventbus.journal.RecordResult;
import io.eventbus.journal.codec.Entry;
import io.eventbus.journal.copy.CopySource;
import io.eventbus.journal.rows.StoreFailedException;
import io.eventbus.journal.state.Shard;
import io.eventbus.journal.state.ShardChanges;
import io.eventbus.journal.store.ShardStore;
import io.eventbus.journal.store.StoreIdentity;
import io.eventbus.raft.AppliedIndex;
import io.eventbus.raft.RatisGroup;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.apache.ratis.server.raftlog.RaftLog;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Life of a replica of a shard at this bus: from its files up to the first failure. After a failure
 * it is closed, and another one goes on with the files.
 *
 * <p>Threads: "shard-N-submit" hands entries to Ratis, "shard-N-timers" watches deadlines and never
 * waits, "shard-N-duties" cuts the log and does the leader's duties, "shard-N-raft" answers the
 * Ratis of other buses, "shard-N-copy" reads copies for them, "shard-N-repair" asks them for events
 * that cannot be read here. Any thread may call any method.
 */
final class ShardServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ShardServer.class);

  private static final long READY_POLL_MILLIS = 5;
  private static final long SWEEP_MILLIS = 1_000;
  private static final long SNAPSHOT_CHECK_MILLIS = 1_000;
  private static final long MEMBERS_CHECK_MILLIS = 200;
  private static final long TAKEN_OUT_CHECK_MILLIS = 3_000;
  private static final long CONFIRM_PAUSE_MILLIS = 100;
  private static final int RAFT_WORKERS = 2;

  /** Time within which a replica has what was committed before a question. */
  private static final Duration BARRIER_TIMEOUT = Duration.ofSeconds(2);

  /** Observer of a shard. */
  interface Observer {
    /**
     * Called when an entry is committed and its rows can be read, on the thread that applies
     * entries; must not block.
     *
     * @param leads whether this replica led in the term of the entry, as the only one always does
     */
    void onApplied(JournalCatalog catalog, ShardChanges changes, boolean leads);

    /**
     * Called once if entries that this replica lacks are gone from the leader's log, on any thread;
     * must not block.
     *
     * @param begin the first entry that the leader has
     */
    default void onBehind(long begin) {}

    /** Called when rows of a journal cannot be read, on any thread; must not block. */
    default void onDamage(int journal, String problem) {}

    /** Called once when the shard cannot go on, on any thread; must not block. */
    void onFailure(Throwable cause);
  }

  private final ShardOptions options;
  private final Observer observer;
  private final ShardDirectory directory;
  private final ShardStore store;
  private final ScheduledThreadPoolExecutor timers;
  private final ScheduledThreadPoolExecutor duties;
  private final ExecutorService submitter;
  private final ExecutorService workers;
  private final ShardClock clock;
  private final AnswerDeadlines deadlines;
  private final AtomicBoolean failed = new AtomicBoolean();
  private volatile JournalCatalog catalog = JournalCatalog.of(List.of());
  private final AppliedIndex applied = new AppliedIndex();
  private final CompletableFuture<Void> ready = new CompletableFuture<>();
  private final @Nullable ShardNetwork network;
  private volatile @Nullable LogCutter cutter;
  private volatile @Nullable Leadership leadership;
  // Where the leader's log begins, if that was told, as the log here has not got so far.
  private volatile long leaderBegin = -1;
  private final AtomicBoolean behindTold = new AtomicBoolean();
  private volatile @Nullable MemberChanges changes;
  private volatile @Nullable TakenOut takenOut;
  private volatile @Nullable CopySource copies;
  private volatile @Nullable EventRepair repair;
  private @Nullable ShardStateMachine machine;
  private volatile @Nullable ShardRaft raft;
  private volatile @Nullable ShardGate gate;
  private boolean stopped;

  private ShardServer(
      ShardOptions options,
      Observer observer,
      ShardDirectory directory,
      ShardStore store,
      @Nullable ShardNetwork network) {
    this.options = options;
    this.observer = observer;
    this.directory = directory;
    this.store = store;
    this.network = network;
    clock =
        new ShardClock(store.applied().stamp(), options.tuning().wallMillis(), System::nanoTime);
    deadlines = new AnswerDeadlines(options.tuning().answerTimeout(), System::nanoTime);
    timers = new ScheduledThreadPoolExecutor(1, named("timers"));
    duties = new ScheduledThreadPoolExecutor(1, named("duties"));
    submitter = Executors.newSingleThreadExecutor(named("submit"));
    workers = Executors.newFixedThreadPool(RAFT_WORKERS, named("raft"));
  }

  /** Listener of a store that is opened before its owner is there. */
  private static final class Failures implements Consumer<StoreFailedException> {
    private volatile @Nullable ShardServer owner;

    @Override
    public void accept(StoreFailedException cause) {
      ShardServer server = owner;
      if (server != null) {
        server.fail(cause);
      }
    }
  }

  private ThreadFactory named(String name) {
    return task -> {
      Thread thread = new Thread(task, "shard-" + options.shard() + "-" + name);
      thread.setDaemon(true);
      return thread;
    };
  }

  /**
   * Opens the files of a replica; creates them if there are none. It is started, or closed.
   *
   * @throws IOException if its files are missing, damaged, another's or in use, saying which
   */
  static ShardServer open(ShardOptions options, Observer observer) throws IOException {
    ShardReplicas replicas = options.replicas();
    ShardNetwork network = replicas == null ? null : new ShardNetwork(options, replicas);
    ShardDirectory directory =
        ShardDirectory.open(
            options.directory(), options.shard(), options.group(), options.member());
    Failures failures = new Failures();
    ShardStore store;
    try {
      if (directory.isCopying()) {
        throw new IOException(
            options.shown() + ": a part of a copy of another's rows (expected: all of it)");
      }
      store =
          ShardStore.open(
              directory.store(),
              new StoreIdentity(options.group(), options.member()),
              options.tuning().store(),
              options.resources(),
              failures);
    } catch (IOException | RuntimeException e) {
      directory.close();
      throw e;
    }
    ShardServer shard = new ShardServer(options, observer, directory, store, network);
    failures.owner = shard;
    return shard;
  }

  /**
   * Starts the replica. The only one has then applied everything that its log has; one of several
   * may have to wait for others, see {@link #ready}.
   *
   * @throws IOException if its files do not belong together, or it is not ready in time; it is to
   *     be closed then
   */
  void start() throws IOException {
    catalog = CatalogRows.read(store);
    Shard rules = new Shard(options.tuning().limits(), Shard.CACHE_BYTES, network == null);
    ShardStateMachine created = new ShardStateMachine(store, rules, new MachineObserver());
    machine = created;
    applied.reached(store.applied().index());
    RatisGroup group;
    ShardGate.Log log;
    if (network == null) {
      ShardRaft started =
          ShardRaft.startAlone(options, directory, created, this::checkAlone, submitter);
      raft = started;
      group = started.group();
      awaitReady(group);
      directory.ready();
      log = this::append;
    } else {
      ShardRaft started =
          ShardRaft.startMember(
              options,
              Objects.requireNonNull(options.replicas(), "replicas"),
              directory,
              created,
              this::checkMember,
              this::behind,
              network.wiring(workers, submitter));
      raft = started;
      group = started.group();
      log = network.open(group, clock, applied, timers);
    }
    ShardGate opened =
        new ShardGate(
            log,
            clock,
            (nanos, task) -> {
              var unused = timers.schedule(task, nanos, TimeUnit.NANOSECONDS);
            },
            System::nanoTime,
            options.tuning().maxPendingBytes(),
            deadlines);
    gate = opened;
    Leadership leading =
        new Leadership(
            group,
            () -> new ShardDuties(store, opened::submit, () -> catalog, clock, observer::onDamage));
    leadership = leading;
    if (network == null) {
      // The time of its duties begins now.
      ShardDuties unused = leading.look();
    }
    begin(group, leading);
    ShardRaft running = raft;
    if (network != null && running != null) {
      MemberChanges open = new MemberChanges(options, running, network, opened);
      changes = open;
      repeat(duties, MEMBERS_CHECK_MILLIS, open::look);
      offerCopies(group, network);
      repair =
          new EventRepair(
              options,
              store,
              created,
              applied,
              others(group, network),
              System::nanoTime,
              named("repair"));
    }
    if (network == null) {
      ready.complete(null);
    } else {
      confirm(opened);
    }
  }

  private RatisGroup group() {
    return Objects.requireNonNull(raft, "started").group();
  }

  /**
   * Appends an entry to the log, where this bus leads; the future has the results of its records.
   */
  CompletableFuture<List<RecordResult>> append(byte[] entry) {
    return group()
        .submit(EntryMessage.of(ByteBuffer.wrap(entry)))
        .thenApply(answer -> ((RecordResultsMessage) answer).results());
  }

  /** Takes note of the address of a member's bus, which has changed. */
  void learn(String member, InetSocketAddress address) {
    if (network != null) {
      network.learn(member, address);
    }
  }

  /** Waits for a leader, and until all is applied here that was committed before. */
  private void confirm(ShardGate opened) {
    var unused =
        opened
            .confirm()
            .whenComplete(
                (nothing, error) -> {
                  if (error == null) {
                    LOG.info("{}: ready", options.shown());
                    ready.complete(null);
                  } else if (!failed.get()) {
                    confirmLater(opened);
                  }
                });
  }

  private void confirmLater(ShardGate opened) {
    try {
      var unused =
          timers.schedule(() -> confirm(opened), CONFIRM_PAUSE_MILLIS, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      LOG.debug("{}: ends", options.shown(), e);
    }
  }

  /** Takes note of where the leader's log begins, which lacks what this replica needs next. */
  private void behind(long begin) {
    leaderBegin = begin;
    ShardRaft started = raft;
    if (started != null && needsCopy(started.group()) && behindTold.compareAndSet(false, true)) {
      LOG.warn(
          "{}: the next entry is {}, the leader's log begins at {}: this replica needs a copy of"
              + " another's rows (expected: away for at most {} bytes of log)",
          options.shown(),
          started.group().logEnd(),
          begin,
          options.tuning().maxLogBytes());
      observer.onBehind(begin);
    }
  }

  private void checkAlone(RaftLog log) throws IOException {
    directory.checkLog(log, store.appliedOnDisk());
  }

  /** Checks the files of a replica before it votes or answers; from now on none may be missing. */
  private void checkMember(RaftLog log) throws IOException {
    directory.checkLog(log, store.appliedOnDisk());
    directory.ready();
  }

  private void awaitReady(RatisGroup started) throws IOException {
    long begun = System.nanoTime();
    while (!started.isLeaderReady()) {
      if (failed.get() || !started.isAlive()) {
        throw new IOException(
            options.shown()
                + ": failed while it applied its log (the log of this process says"
                + " why)");
      }
      if (System.nanoTime() - begun > options.tuning().openTimeout().toNanos()) {
        throw new IOException(
            options.shown()
                + ": applied up to entry "
                + store.applied().index()
                + " after "
                + options.tuning().openTimeout()
                + " (expected: all of its log)");
      }
      try {
        Thread.sleep(READY_POLL_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException(options.shown() + ": interrupted while it was opened");
      }
    }
  }

  private void begin(RatisGroup group, Leadership leading) {
    LogCutter created =
        new LogCutter(
            store, group, options.member(), directory.current(), options.tuning().maxLogBytes());
    cutter = created;
    repeat(timers, SWEEP_MILLIS, deadlines::sweep);
    repeat(duties, options.tuning().dutyInterval().toMillis(), leading::perform);
    repeat(duties, SNAPSHOT_CHECK_MILLIS, created::check);
  }

  private void offerCopies(RatisGroup group, ShardNetwork network) {
    TakenOut looking = new TakenOut(group, network, options.group(), options.member());
    takenOut = looking;
    repeat(duties, TAKEN_OUT_CHECK_MILLIS, looking::look);
    CopySource source =
        new CopySource(
            options.group(),
            options.member(),
            new CopiedReplica(
                group,
                store,
                Objects.requireNonNull(cutter, "begun"),
                ready::isDone,
                this::appliedUpToNow,
                directory.current()),
            options.tuning().copyBytesPerSecond(),
            System::nanoTime,
            named("copy"));
    copies = source;
    network.offer(source);
  }

  private static EventRepair.Others others(RatisGroup group, ShardNetwork network) {
    return new EventRepair.Others() {
      @Override
      public List<String> memberIds() {
        return group.memberIds();
      }

      @Override
      public CompletableFuture<byte[]> ask(String member, byte[] question) {
        return network.ask(member, question);
      }
    };
  }

  /** Returns what of a batch can be given out; what another replica may have is repaired. */
  ReadBatch check(KeepPolicy keep, int journal, ReadBatch batch) {
    EventRepair repairing = repair;
    return repairing == null ? batch : repairing.check(keep, journal, batch);
  }

  private void repeat(ScheduledThreadPoolExecutor executor, long millis, Duty duty) {
    var unused =
        executor.scheduleWithFixedDelay(() -> run(duty), millis, millis, TimeUnit.MILLISECONDS);
  }

  private interface Duty {
    void run() throws InterruptedException, ExecutionException, IOException;
  }

  // An error must not end the timer.
  @SuppressWarnings("CatchingUnchecked")
  private void run(Duty duty) {
    try {
      duty.run();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (Exception e) {
      if (!failed.get()) {
        LOG.warn("{}: a duty failed", options.shown(), e);
      }
    }
  }

  private final class MachineObserver implements ShardStateMachine.Observer {
    @Override
    public void onApplied(Entry entry, ShardChanges changes, boolean leads) {
      clock.applied(changes.stamp());
      catalog = CatalogRows.changed(catalog, entry, changes);
      Leadership leading = leadership;
      if (leading != null) {
        leading.applied(entry, changes);
      }
      observer.onApplied(catalog, changes, leads || network == null);
      applied.reached(store.applied().index());
    }

    @Override
    public void onFailure(Throwable cause) {
      fail(cause);
    }

    @Override
    public void onLeader(String member) {
      LOG.info("{}: the leader is {}", options.shown(), member);
      if (network != null) {
        network.leaderChanged(member);
      }
    }

    @Override
    public long neededFrom() {
      LogCutter created = cutter;
      return created == null ? 0 : created.neededFrom();
    }
  }

  /** Ends the shard because of a failure, of which the observer is told once. */
  void fail(Throwable cause) {
    if (failed.compareAndSet(false, true)) {
      LOG.error("{}: has failed", options.shown(), cause);
      observer.onFailure(cause);
    }
  }

  /** Returns the entry into the log. */
  ShardGate gate() {
    return Objects.requireNonNull(gate, "opened");
  }

  /** Returns what cuts the log. */
  LogCutter cutter() {
    return Objects.requireNonNull(cutter, "opened");
  }

  ShardStore store() {
    return store;
  }

  JournalCatalog catalog() {
    return catalog;
  }

  /** Returns a stage that completes when all is applied here that was committed at the start. */
  CompletableFuture<Void> ready() {
    return ready;
  }

  /** Does what {@link ShardJournals#appliedUpToNow} says. */
  CompletableFuture<Void> appliedUpToNow() {
    if (network == null) {
      // Nobody knows of what is committed and not applied yet.
      return CompletableFuture.completedFuture(null);
    }
    return gate()
        .confirm()
        .copy()
        .orTimeout(BARRIER_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)
        .exceptionallyCompose(
            error ->
                CompletableFuture.failedFuture(
                    new JournalsUnavailableException(
                        options.shown()
                            + ": not known to be up to date within "
                            + BARRIER_TIMEOUT
                            + " (expected: a leader, and a replica that is not behind)",
                        error)));
  }

  /** Returns the first index of the log here. */
  long logBegin() {
    return group().logBegin();
  }

  /** Returns the index of the next entry of the log here. */
  long logEnd() {
    return group().logEnd();
  }

  ShardStatus status() {
    RatisGroup group = group();
    TakenOut looking = takenOut;
    return ShardStatus.of(
        group,
        options.member(),
        store.applied().index(),
        ready.isDone(),
        needsCopy(group),
        looking != null && looking.isTakenOut());
  }

  private boolean needsCopy(RatisGroup group) {
    return group.committed() < leaderBegin;
  }

  /** Does what {@link ShardJournals#changeMembers} says. */
  CompletableFuture<Void> changeMembers(List<ShardMember> members) {
    MemberChanges open = changes;
    return open == null
        ? CompletableFuture.failedFuture(
            new JournalsUnavailableException(
                options.shown() + ": the only replica (expected: one of several)"))
        : open.change(members);
  }

  @Override
  public void close() {
    boolean unused = tryClose();
  }

  /**
   * Ends the shard, and fails the calls that wait. What the store has in memory is brought to its
   * disk, unless it has failed.
   *
   * @return false if the store is still read after 10 s: its files are not free then, and this is
   *     to be called again
   */
  synchronized boolean tryClose() {
    if (!stopped) {
      stopped = true;
      stop();
    }
    if (!store.tryClose()) {
      return false;
    }
    try {
      directory.close();
    } catch (IOException e) {
      LOG.error("{}: not released", options.shown(), e);
    }
    return true;
  }

  private void stop() {
    ShardRaft started = raft;
    boolean worked = !failed.getAndSet(true);
    if (worked && started != null && network != null) {
      started.leave(options);
    }
    ShardGate opened = gate;
    if (opened != null) {
      opened.close(
          new JournalsUnavailableException(
              options.shown() + ": closed; the outcome is not known (expected: open)"));
    }
    duties.shutdownNow();
    EventRepair repairing = repair;
    if (repairing != null) {
      repairing.close();
    }
    if (network != null) {
      network.close();
    }
    CopySource source = copies;
    if (source != null) {
      source.close();
    }
    stopRaft(started);
    timers.shutdownNow();
    submitter.shutdownNow();
    workers.shutdownNow();
  }

  private void stopRaft(@Nullable ShardRaft started) {
    try {
      boolean closes = machine != null && machine.end();
      if (started != null) {
        if (closes) {
          started.awaitClosed();
        }
        started.close();
      }
    } catch (IOException | RuntimeException e) {
      LOG.error("{}: not closed", options.shown(), e);
    }
  }
}
