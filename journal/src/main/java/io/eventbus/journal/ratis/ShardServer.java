package io.eventbus.journal.ratis;

import io.eventbus.journal.JournalCatalog;
import io.eventbus.journal.JournalsUnavailableException;
import io.eventbus.journal.RecordResult;
import io.eventbus.journal.RecordResult.Done;
import io.eventbus.journal.RecordResult.JournalCreated;
import io.eventbus.journal.codec.Entry;
import io.eventbus.journal.codec.ShardRecord;
import io.eventbus.journal.codec.ShardRecord.ChangeJournal;
import io.eventbus.journal.codec.ShardRecord.CreateJournal;
import io.eventbus.journal.codec.ShardRecord.DeleteJournal;
import io.eventbus.journal.rows.RowScan;
import io.eventbus.journal.rows.StoreFailedException;
import io.eventbus.journal.state.DefinitionRow;
import io.eventbus.journal.state.Keys;
import io.eventbus.journal.state.Shard;
import io.eventbus.journal.state.ShardChanges;
import io.eventbus.journal.store.AppliedEntry;
import io.eventbus.journal.store.ShardStore;
import io.eventbus.journal.store.StoreIdentity;
import io.eventbus.journal.store.StoreLease;
import io.eventbus.raft.RatisGroup;
import io.eventbus.raft.repair.LeaderContact;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.server.storage.RaftStorage.StartupOption;
import org.apache.ratis.util.LifeCycle;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Life of a shard at this bus: from its files up to the first failure. It is the only voter of its
 * Raft group. After a failure it is closed, and another one goes on with the files.
 *
 * <p>Threads: "shard-N-submit" hands entries to Ratis, "shard-N-timers" watches deadlines and never
 * waits, "shard-N-duties" does the leader's duties. Any thread may call any method.
 */
final class ShardServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ShardServer.class);

  private static final long READY_POLL_MILLIS = 5;
  private static final long SWEEP_MILLIS = 100;
  private static final long SNAPSHOT_CHECK_MILLIS = 1_000;
  private static final long SNAPSHOT_TIMEOUT_MILLIS = 10_000;
  private static final long CLOSE_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** Observer of a shard. */
  interface Observer {
    /**
     * Called when an entry is committed and its rows can be read, on the thread that applies
     * entries; must not block.
     */
    void onApplied(JournalCatalog catalog, ShardChanges changes);

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
  private final ShardClock clock;
  private final AnswerDeadlines deadlines;
  private final AtomicBoolean failed = new AtomicBoolean();
  private volatile JournalCatalog catalog = JournalCatalog.of(List.of());
  private volatile @Nullable ShardDuties leader;
  private @Nullable ShardStateMachine machine;
  private @Nullable RaftServer server;
  private @Nullable RatisGroup group;
  private @Nullable ShardGate gate;

  private ShardServer(
      ShardOptions options, Observer observer, ShardDirectory directory, ShardStore store) {
    this.options = options;
    this.observer = observer;
    this.directory = directory;
    this.store = store;
    clock =
        new ShardClock(store.applied().stamp(), options.tuning().wallMillis(), System::nanoTime);
    deadlines = new AnswerDeadlines(options.tuning().answerTimeout(), System::nanoTime);
    timers = new ScheduledThreadPoolExecutor(1, named("timers"));
    duties = new ScheduledThreadPoolExecutor(1, named("duties"));
    submitter = Executors.newSingleThreadExecutor(named("submit"));
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
   * Opens a shard, and returns when everything that its log has is applied. Creates it if there is
   * none.
   *
   * @throws IOException if its files are missing, damaged, another's or in use, saying which, or if
   *     it is not ready in time
   */
  static ShardServer open(ShardOptions options, Observer observer) throws IOException {
    ShardDirectory directory =
        ShardDirectory.open(
            options.directory(), options.shard(), options.group(), options.member());
    Failures failures = new Failures();
    ShardStore store;
    try {
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
    ShardServer shard = new ShardServer(options, observer, directory, store);
    failures.owner = shard;
    try {
      shard.start();
      return shard;
    } catch (IOException | RuntimeException e) {
      shard.close();
      throw e;
    }
  }

  private void start() throws IOException {
    catalog = readCatalog();
    RaftPeerId self = RaftPeerId.valueOf(options.member());
    RaftGroupId id = RaftGroupId.valueOf(options.group());
    Shard rules = new Shard(options.tuning().limits(), Shard.CACHE_BYTES);
    ShardStateMachine created = new ShardStateMachine(store, rules, new MachineObserver());
    machine = created;
    RaftServer raft =
        RaftServer.newBuilder()
            .setServerId(self)
            .setGroup(RaftGroup.valueOf(id, List.of(RaftPeer.newBuilder().setId(self).build())))
            .setOption(directory.isFresh() ? StartupOption.FORMAT : StartupOption.RECOVER)
            .setProperties(ShardProperties.of(directory.log()))
            .setStateMachineRegistry(asked -> created)
            .build();
    server = raft;
    raft.start();
    RatisGroup started =
        new RatisGroup(raft, id, self, new LeaderContact(System::nanoTime), submitter, submitter);
    group = started;
    checkLog(raft.getDivision(id).getRaftLog(), store.appliedOnDisk());
    awaitReady(started);
    directory.ready();
    ShardGate opened =
        new ShardGate(
            this::append,
            clock,
            (nanos, task) -> {
              var unused = timers.schedule(task, nanos, TimeUnit.NANOSECONDS);
            },
            System::nanoTime,
            options.tuning().maxPendingBytes(),
            deadlines);
    gate = opened;
    leader = new ShardDuties(store, opened::submit, () -> catalog, clock);
    begin(started);
  }

  /** Appends an entry to the log; the future has the results of its records. */
  CompletableFuture<List<RecordResult>> append(byte[] entry) {
    return Objects.requireNonNull(group, "started")
        .submit(EntryMessage.of(entry))
        .thenApply(answer -> ((RecordResultsMessage) answer).results());
  }

  /**
   * Checks that the log has the last entry that the store has applied, and all after it. The only
   * voter applies nothing that its log has not on the disk, and the log is never cut up to its end.
   */
  private void checkLog(RaftLog log, AppliedEntry applied) throws IOException {
    TermIndex last = log.getLastEntryTermIndex();
    long end = last == null ? -1 : last.getIndex();
    long start = log.getStartIndex();
    long stored = applied.equals(AppliedEntry.NONE) ? -1 : applied.index();
    if (stored > end || (end >= 0 && start > stored + 1)) {
      throw new IOException(
          directory.log()
              + ": entries "
              + start
              + " to "
              + end
              + ", store: up to entry "
              + stored
              + " (expected: a log that begins at most behind the entries of its store, and does"
              + " not end before them)");
    }
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

  private void begin(RatisGroup started) {
    repeat(timers, SWEEP_MILLIS, deadlines::sweep);
    repeat(duties, options.tuning().dutyInterval().toMillis(), this::perform);
    repeat(duties, SNAPSHOT_CHECK_MILLIS, new LogCutter(started)::check);
  }

  private void repeat(ScheduledThreadPoolExecutor executor, long millis, Duty duty) {
    var unused =
        executor.scheduleWithFixedDelay(() -> run(duty), millis, millis, TimeUnit.MILLISECONDS);
  }

  private interface Duty {
    void run() throws InterruptedException, ExecutionException;
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

  private void perform() throws InterruptedException, ExecutionException {
    ShardDuties now = leader;
    if (now != null) {
      now.perform();
    }
  }

  /** Cut of the log behind what the store has brought to its disk. */
  private final class LogCutter {
    private final RatisGroup raft;
    private long cut;

    LogCutter(RatisGroup raft) {
      this.raft = raft;
      cut = store.appliedOnDisk().index();
    }

    void check() throws InterruptedException, ExecutionException {
      long onDisk = store.appliedOnDisk().index();
      if (onDisk > cut) {
        cut = onDisk;
        long unused = raft.takeSnapshot(SNAPSHOT_TIMEOUT_MILLIS, 1).get();
      }
    }
  }

  private final class MachineObserver implements ShardStateMachine.Observer {
    @Override
    public void onApplied(Entry entry, ShardChanges changes) {
      clock.applied(changes.stamp());
      catalog = changed(catalog, entry, changes);
      ShardDuties now = leader;
      if (now != null) {
        now.applied(entry, changes);
      }
      observer.onApplied(catalog, changes);
    }

    @Override
    public void onFailure(Throwable cause) {
      fail(cause);
    }
  }

  private static JournalCatalog changed(JournalCatalog before, Entry entry, ShardChanges changes) {
    // Records that change a definition are alone in their entries.
    ShardRecord record = entry.records().get(0);
    RecordResult result = changes.results().get(0);
    if (record instanceof CreateJournal create && result instanceof JournalCreated created) {
      return before.with(created.journal(), create.definition());
    } else if (record instanceof ChangeJournal change && result instanceof Done) {
      return before.with(change.journal(), change.definition());
    } else if (record instanceof DeleteJournal delete && result instanceof Done) {
      return before.with(delete.journal(), null);
    }
    return before;
  }

  private JournalCatalog readCatalog() {
    List<JournalCatalog.Item> journals = new ArrayList<>();
    try (StoreLease rows = store.lease();
        RowScan scan =
            rows.scan(new byte[] {Keys.JOURNAL}, new byte[] {(byte) (Keys.JOURNAL + 1)})) {
      while (scan.next()) {
        journals.add(
            new JournalCatalog.Item(
                Keys.journalOf(scan.key()), DefinitionRow.decode(scan.value()).definition()));
      }
    }
    return JournalCatalog.of(journals);
  }

  private void fail(Throwable cause) {
    if (failed.compareAndSet(false, true)) {
      LOG.error("{}: has failed", options.shown(), cause);
      observer.onFailure(cause);
    }
  }

  /** Returns the entry into the log. */
  ShardGate gate() {
    return Objects.requireNonNull(gate, "opened");
  }

  ShardStore store() {
    return store;
  }

  JournalCatalog catalog() {
    return catalog;
  }

  /**
   * Ends the shard, and fails the calls that wait. What the store has in memory is brought to its
   * disk, unless it has failed.
   */
  @Override
  public void close() {
    failed.set(true);
    ShardGate opened = gate;
    if (opened != null) {
      opened.close(
          new JournalsUnavailableException(
              options.shown() + ": closed; the outcome is not known (expected: open)"));
    }
    duties.shutdownNow();
    closeAll();
    timers.shutdownNow();
    submitter.shutdownNow();
  }

  private void closeAll() {
    RaftServer started = server;
    try (directory) {
      try {
        boolean closes = machine != null && machine.end();
        if (started != null) {
          if (closes) {
            awaitClosed(started);
          }
          started.close();
        }
      } finally {
        store.close();
      }
    } catch (IOException | RuntimeException e) {
      LOG.error("{}: not closed", options.shown(), e);
    }
  }

  /** Waits until Ratis has closed the group by itself, and released its files. */
  private void awaitClosed(RaftServer started) throws IOException {
    RaftGroupId id = RaftGroupId.valueOf(options.group());
    long begun = System.nanoTime();
    while (started.getDivision(id).getInfo().getLifeCycleState() != LifeCycle.State.CLOSED
        && System.nanoTime() - begun < CLOSE_TIMEOUT_NANOS) {
      try {
        Thread.sleep(READY_POLL_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }
}
