package io.eventbus.journal.ratis;

import io.eventbus.journal.AppendListener;
import io.eventbus.journal.AppliedChanges;
import io.eventbus.journal.AppliedChanges.AppliedChunk;
import io.eventbus.journal.ConsumerView;
import io.eventbus.journal.CursorMode;
import io.eventbus.journal.CursorStart;
import io.eventbus.journal.CursorView;
import io.eventbus.journal.DeadEvent;
import io.eventbus.journal.JournalCatalog;
import io.eventbus.journal.JournalDefinition;
import io.eventbus.journal.JournalFigures;
import io.eventbus.journal.JournalListener;
import io.eventbus.journal.Journals;
import io.eventbus.journal.JournalsUnavailableException;
import io.eventbus.journal.KeepPolicy;
import io.eventbus.journal.PublishHead;
import io.eventbus.journal.ReadBatch;
import io.eventbus.journal.ReadHole;
import io.eventbus.journal.RecordResult;
import io.eventbus.journal.Settlement;
import io.eventbus.journal.SlotProgress;
import io.eventbus.journal.SlotsView;
import io.eventbus.journal.StoredEventReader;
import io.eventbus.journal.WaitingEvents;
import io.eventbus.journal.codec.ShardRecord;
import io.eventbus.journal.codec.ShardRecord.AttachCursor;
import io.eventbus.journal.codec.ShardRecord.ChangeJournal;
import io.eventbus.journal.codec.ShardRecord.CreateCursor;
import io.eventbus.journal.codec.ShardRecord.CreateJournal;
import io.eventbus.journal.codec.ShardRecord.DeleteCursor;
import io.eventbus.journal.codec.ShardRecord.DeleteJournal;
import io.eventbus.journal.codec.ShardRecord.DetachCursor;
import io.eventbus.journal.codec.ShardRecord.JoinCursor;
import io.eventbus.journal.codec.ShardRecord.LeaveCursor;
import io.eventbus.journal.codec.ShardRecord.Purge;
import io.eventbus.journal.codec.ShardRecord.Redrive;
import io.eventbus.journal.codec.ShardRecord.SettleCursor;
import io.eventbus.journal.codec.ShardRecord.SettleEvents;
import io.eventbus.journal.codec.ShardRecord.SettleSlots;
import io.eventbus.journal.codec.ShardRecord.TakeEvents;
import io.eventbus.journal.codec.ShardRecord.Trim;
import io.eventbus.journal.read.CursorReader;
import io.eventbus.journal.read.JournalPositions;
import io.eventbus.journal.read.SlotReader;
import io.eventbus.journal.rows.DamagedRowException;
import io.eventbus.journal.rows.DamagedStoreException;
import io.eventbus.journal.rows.StoreFailedException;
import io.eventbus.journal.state.JournalCounters;
import io.eventbus.journal.state.ShardChanges;
import io.eventbus.journal.store.ShardStore;
import io.eventbus.journal.store.StoreLease;
import io.eventbus.protocol.MalformedFrameException;
import io.eventbus.protocol.TopicFilter;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Journals of a bus that has a replica of one shard, perhaps the only one. After a failure of the
 * disk the replica is opened anew, again and again, with pauses; meanwhile everything that is asked
 * for is unavailable.
 */
public final class ShardJournals implements Journals, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ShardJournals.class);

  private static final long MAX_CLOSE_SECONDS = 90;

  /** Pause after a look for a copy that was to replace damaged rows. */
  private static final long DAMAGE_PAUSE_MILLIS = 10_000;

  /** Creations have numbers that also JavaScript has without loss. */
  private static final long END_OF_CREATIONS = 1L << 53;

  private final SecureRandom creations = new SecureRandom();
  private final ShardOptions options;
  private final List<JournalListener> listeners = new CopyOnWriteArrayList<>();
  private final Map<String, InetSocketAddress> learned = new ConcurrentHashMap<>();
  private final ScheduledThreadPoolExecutor opener;
  // Null while the shard is opened anew, and at the end.
  private volatile @Nullable ShardServer current;
  private volatile JournalCatalog catalog = JournalCatalog.of(List.of());
  private final CompletableFuture<Void> ready = new CompletableFuture<>();
  private final CompletableFuture<Void> stopped = new CompletableFuture<>();
  private final RestartPause pause = new RestartPause(System::nanoTime);
  private volatile ReplicaListener replicaListener = ReplicaListener.NONE;
  private final AtomicBoolean failureTold = new AtomicBoolean();
  // Journals whose damage was told.
  private final Set<Integer> damaged = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;
  private volatile boolean knowsJournals;
  // Set while another replica is looked for, because of damage that a reader has met.
  private final AtomicBoolean looking = new AtomicBoolean();
  // Set while this replica gets a copy, and has not caught up since.
  private volatile @Nullable ReplicaCopy copy;
  // The shard whose files are not free yet; confined to the opener, and to the end.
  private @Nullable ShardServer last;

  private ShardJournals(ShardOptions options) {
    this.options = options;
    opener =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, "shard-" + options.shard() + "-open");
              thread.setDaemon(true);
              return thread;
            });
    opener.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
  }

  /**
   * Opens the journals of a bus. If it has the only replica, everything that was confirmed can be
   * read then. If there are several it can be read when the {@link #ready} stage is complete, which
   * takes a majority; until then reading yields what this replica has, and writing waits.
   *
   * @throws IOException if files are missing, damaged, another's or in use, saying which
   */
  public static ShardJournals open(ShardOptions options) throws IOException {
    return open(options, journals -> {});
  }

  /**
   * Opens the journals of a bus, as {@link #open(ShardOptions)}.
   *
   * @param before called before anything is applied, so that a listener is told of everything; what
   *     is asked for in it is unavailable
   */
  public static ShardJournals open(ShardOptions options, Consumer<ShardJournals> before)
      throws IOException {
    ShardJournals journals = new ShardJournals(options);
    before.accept(journals);
    try {
      if (options.replicas() != null && ReplicaCopy.isWanted(options)) {
        journals.opener.execute(journals::copy);
      } else {
        journals.openShard();
      }
      return journals;
    } catch (IOException | RuntimeException e) {
      journals.close();
      throw e;
    }
  }

  /** Tells a listener what happens to the replica from now on. */
  public void listen(ReplicaListener listener) {
    replicaListener = listener;
  }

  private void openShard() throws IOException {
    Life life = new Life();
    ShardServer opened = ShardServer.open(options, life);
    last = opened;
    opened.start();
    catalog = opened.catalog();
    knowsJournals |= opened.store().applied().index() > 0;
    current = opened;
    learned.forEach(opened::learn);
    life.begin(opened);
    var unused =
        opened
            .ready()
            .thenRun(
                () -> {
                  pause.ready();
                  ready.complete(null);
                });
  }

  /** Observer of a shard from its opening to its failure. */
  private final class Life implements ShardServer.Observer {
    private @Nullable ShardServer open;
    private @Nullable Throwable failure;
    private long behind = -1;

    /** Takes note that the shard is open; it may have failed already. */
    void begin(ShardServer opened) {
      synchronized (this) {
        open = opened;
        if (failure == null && behind < 0) {
          return;
        }
      }
      end();
    }

    private void end() {
      Runnable next;
      @Nullable Throwable cause;
      synchronized (this) {
        next = next();
        cause = behind < 0 ? failure : null;
      }
      if (cause != null) {
        failed(cause);
      }
      current = null;
      afterPause(next);
    }

    private Runnable next() {
      long begin = behind;
      if (begin >= 0) {
        return () -> beginCopy(begin);
      }
      ShardServer shard = open;
      if (shard != null && failure instanceof DamagedStoreException && options.replicas() != null) {
        long entry = shard.store().applied().index() + 1;
        return () -> replaceDamaged(entry);
      }
      return ShardJournals.this::reopen;
    }

    @Override
    public void onBehind(long begin) {
      synchronized (this) {
        behind = begin;
        if (open == null || failure != null) {
          return;
        }
      }
      end();
    }

    @Override
    public void onApplied(JournalCatalog now, ShardChanges changes, boolean leads) {
      catalog = now;
      knowsJournals = true;
      tell(changes, leads);
    }

    @Override
    public void onDamage(int journal, String problem) {
      damaged(journal, problem);
    }

    @Override
    public void onFailure(Throwable cause) {
      synchronized (this) {
        failure = cause;
        if (open == null || behind >= 0) {
          return;
        }
      }
      end();
    }
  }

  private void failed(Throwable cause) {
    if (failureTold.compareAndSet(false, true)) {
      replicaListener.failed(
          cause.getMessage() == null ? cause.toString() : String.valueOf(cause.getMessage()));
    }
  }

  private void damaged(int journal, String problem) {
    JournalCatalog.Item item = catalog.find(journal);
    if (item != null && damaged.add(journal)) {
      LOG.error(
          "{}: journal {}: damaged: {} (reported once until the next start or copy)",
          options.shown(),
          item.definition().name(),
          problem);
      replicaListener.damaged(item.definition().name(), problem);
    }
  }

  /** Closes the shard, and does a task behind a pause. */
  private void afterPause(Runnable task) {
    long millis = pause.next();
    if (millis > 0) {
      LOG.warn("{}: goes on in {} ms", options.shown(), millis);
    }
    later(0, () -> whenClosed(() -> later(millis, task)));
  }

  /** Does a task when the files of the shard are free; readers may still hold them. */
  private void whenClosed(Runnable task) {
    if (closeLast()) {
      task.run();
    } else {
      later(0, () -> whenClosed(task));
    }
  }

  private void later(long millis, Runnable task) {
    try {
      var unused = opener.schedule(task, millis, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      // The journals end.
      LOG.debug("{}: not opened anew", options.shown(), e);
    }
  }

  private void reopen() {
    if (closed) {
      return;
    }
    try {
      openShard();
      LOG.info("{}: opened anew", options.shown());
      if (current != null && failureTold.getAndSet(false)) {
        replicaListener.opened();
      }
    } catch (IOException | RuntimeException e) {
      LOG.error("{}: not opened", options.shown(), e);
      failed(e);
      afterPause(this::reopen);
    }
  }

  /**
   * Takes a copy for rows that are damaged, if another replica has applied what this one cannot.
   *
   * @param entry the entry, or one before it that changes no row
   */
  private void replaceDamaged(long entry) {
    if (closed) {
      return;
    }
    try {
      if (new ReplicaCopy(options, new Others(), stopped, replicaListener).isOffered(entry)) {
        LOG.warn("{}: its rows are damaged, it takes a copy", options.shown());
        beginCopy(entry);
      } else {
        LOG.error(
            "{}: its rows are damaged, and no other replica offers a copy with entry {} (expected:"
                + " one that has caught up)",
            options.shown(),
            entry);
        reopen();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void beginCopy(long begin) {
    if (closed) {
      return;
    }
    try {
      ReplicaCopy.want(options, begin);
    } catch (IOException | RuntimeException e) {
      LOG.error("{}: no copy can be taken", options.shown(), e);
      reopen();
      return;
    }
    copy();
  }

  private void copy() {
    ReplicaCopy taken = new ReplicaCopy(options, new Others(), stopped, replicaListener);
    copy = taken;
    try {
      if (taken.run()) {
        damaged.clear();
        keepLogs(taken);
        reopen();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Has the others keep the log behind a copy until this replica has caught up. */
  private void keepLogs(ReplicaCopy taken) {
    ShardServer shard = current;
    if (copy != taken || (shard != null && shard.ready().isDone())) {
      return;
    }
    Map<String, CompletableFuture<byte[]>> unused = taken.keepLogs();
    later(ReplicaCopy.TELL.toMillis(), () -> keepLogs(taken));
  }

  /** Other replicas, by the addresses that are known here. */
  private final class Others implements ReplicaCopy.Others {
    private final ShardReplicas replicas =
        Objects.requireNonNull(options.replicas(), "one of several");

    @Override
    public Set<String> ids() {
      Set<String> ids = new TreeSet<>(learned.keySet());
      replicas.members().forEach(member -> ids.add(member.id()));
      ids.remove(options.member());
      return ids;
    }

    @Override
    public CompletableFuture<byte[]> ask(String member, byte[] request, Duration timeout) {
      InetSocketAddress address = learned.get(member);
      return ShardNetwork.ask(
          replicas.links(),
          address == null ? replicas.member(member).socketAddress() : address,
          request,
          timeout);
    }
  }

  /** Closes the last shard; returns whether its files are free. */
  private boolean closeLast() {
    ShardServer shard = last;
    if (shard != null && !shard.tryClose()) {
      return false;
    }
    last = null;
    return true;
  }

  private void tell(ShardChanges changes, boolean leads) {
    if (listeners.isEmpty()) {
      return;
    }
    List<AppliedChunk> chunks = new ArrayList<>(changes.chunks().size());
    changes
        .chunks()
        .forEach(
            chunk ->
                chunks.add(
                    new AppliedChunk(
                        chunk.journal(),
                        chunk.index().firstPosition(),
                        chunk.index().lastPosition(),
                        chunk.bytes())));
    AppliedChanges told =
        new AppliedChanges(
            changes.stamp(),
            leads,
            chunks,
            changes.journals(),
            changes.released(),
            changes.regrouped());
    for (JournalListener listener : listeners) {
      tell(listener, told);
    }
  }

  private void tell(JournalListener listener, AppliedChanges changes) {
    try {
      listener.applied(changes);
    } catch (RuntimeException e) {
      // The entry is applied, whatever a listener does.
      LOG.error("{}: a listener has failed", options.shown(), e);
    }
  }

  /** Returns the shard, which is open. */
  ShardServer shard() {
    return Objects.requireNonNull(current, "open");
  }

  /**
   * Returns a stage that completes once a replica here has applied everything that was committed
   * when it was opened. Completed on a thread that must not wait.
   */
  public CompletionStage<Void> ready() {
    return ready.minimalCompletionStage();
  }

  /** Returns the state of the shard as this bus knows it; null while it is opened anew. */
  public @Nullable ShardStatus status() {
    ShardServer shard = current;
    if (shard != null) {
      return shard.status();
    }
    ReplicaCopy taken = copy;
    return taken == null ? null : taken.status();
  }

  /**
   * Returns whether {@link #catalog} is one that the shard had at some time. Otherwise this replica
   * is new, or was opened while it gets a copy, and knows no journals at all.
   */
  public boolean knowsJournals() {
    return knowsJournals;
  }

  /**
   * Takes note of the address of another replica's bus, which has changed. It is used from the next
   * message on.
   *
   * @param member the id of the replica, as in {@link ShardMember#id}
   * @param address as in {@link ShardMember#address}
   * @throws IllegalArgumentException if the address cannot be read
   */
  public void learn(String member, String address) {
    InetSocketAddress parsed = ShardMember.parse(member, address);
    learned.put(member, parsed);
    ShardServer shard = current;
    if (shard != null) {
      shard.learn(member, parsed);
    }
  }

  /**
   * Changes the members of the shard, where this replica leads. The votes change one after the
   * other, so that a majority before and one after a step always have a voter in common; members
   * with the same id and another address are not changed. If the change fails, or the leader does
   * meanwhile, a part of it may be done: the same call at the leader goes on from there.
   *
   * <p>Complete once Raft has the configuration, or within 3 minutes. A leader that is to have no
   * vote hands the leadership over when all else is done, and the call fails; the next leader takes
   * the vote.
   *
   * @param members all members from now on, with the addresses at which their buses are reached
   * @return fails with {@link JournalsUnavailableException} if this replica does not lead, another
   *     change is under way, a member that is to be admitted is away or behind, or the outcome is
   *     not known
   * @throws IllegalArgumentException if none of them votes, two have the same id, or an address
   *     cannot be read
   */
  public CompletableFuture<Void> changeMembers(List<ShardMember> members) {
    ShardReplicas.check(members);
    ShardServer shard = current;
    return shard == null
        ? CompletableFuture.failedFuture(unavailable())
        : shard.changeMembers(members);
  }

  @Override
  public CompletionStage<Void> appliedUpToNow() {
    ShardServer shard = current;
    return shard == null ? CompletableFuture.failedFuture(unavailable()) : shard.appliedUpToNow();
  }

  private JournalsUnavailableException unavailable() {
    return new JournalsUnavailableException(
        options.shown() + (closed ? ": closed" : ": being opened") + " (expected: open)");
  }

  @Override
  public JournalCatalog catalog() {
    ShardServer shard = current;
    return shard == null ? catalog : shard.catalog();
  }

  @Override
  public boolean append(PublishHead head, ByteBuffer events, AppendListener listener) {
    ShardServer shard = current;
    if (shard == null) {
      listener.unavailable(unavailable());
      return true;
    }
    return shard.gate().append(head, events, listener);
  }

  @Override
  public void whenRoom(Runnable task) {
    ShardServer shard = current;
    if (shard == null) {
      task.run();
    } else {
      shard.gate().whenRoom(task);
    }
  }

  @Override
  public long pendingBytes() {
    ShardServer shard = current;
    return shard == null ? 0 : shard.gate().pendingBytes();
  }

  private CompletionStage<RecordResult> submit(ShardRecord record) {
    ShardServer shard = current;
    return shard == null
        ? CompletableFuture.failedFuture(unavailable())
        : shard.gate().submit(record);
  }

  @Override
  public CompletionStage<RecordResult> create(JournalDefinition definition) {
    return submit(new CreateJournal(definition, creations.nextLong(1, END_OF_CREATIONS)));
  }

  @Override
  public CompletionStage<RecordResult> change(int journal, JournalDefinition definition) {
    return submit(new ChangeJournal(journal, definition));
  }

  @Override
  public CompletionStage<RecordResult> delete(int journal) {
    return submit(new DeleteJournal(journal));
  }

  @Override
  public CompletionStage<RecordResult> trim(int journal, long upTo) {
    return submit(new Trim(journal, upTo));
  }

  @Override
  public CompletionStage<RecordResult> purge(int journal, String topic, long from, long to) {
    return submit(new Purge(journal, topic, from, to));
  }

  @Override
  public CompletionStage<RecordResult> createCursor(
      int journal,
      String name,
      TopicFilter filter,
      CursorMode mode,
      CursorStart start,
      long position) {
    return submit(new CreateCursor(journal, name, filter, mode, start, position));
  }

  @Override
  public CompletionStage<RecordResult> attachCursor(
      int journal, String name, String owner, long replaces) {
    return submit(new AttachCursor(journal, name, owner, replaces));
  }

  @Override
  public CompletionStage<RecordResult> detachCursor(int journal, String name, long epoch) {
    return submit(new DetachCursor(journal, name, epoch));
  }

  @Override
  public CompletionStage<RecordResult> settleCursor(
      int journal, String name, long epoch, long upTo) {
    return submit(new SettleCursor(journal, name, epoch, upTo));
  }

  @Override
  public CompletionStage<RecordResult> joinCursor(
      int journal, String name, String owner, int maxAttempts) {
    return submit(new JoinCursor(journal, name, owner, maxAttempts));
  }

  @Override
  public CompletionStage<RecordResult> leaveCursor(
      int journal, String name, long epoch, boolean failed) {
    return submit(new LeaveCursor(journal, name, epoch, failed));
  }

  @Override
  public CompletionStage<RecordResult> takeEvents(
      int journal, String name, long epoch, long serial, int max) {
    return submit(new TakeEvents(journal, name, epoch, serial, max));
  }

  @Override
  public CompletionStage<RecordResult> settleEvents(
      int journal, String name, long epoch, long serial, List<Settlement> settlements) {
    return submit(new SettleEvents(journal, name, epoch, serial, settlements));
  }

  @Override
  public CompletionStage<RecordResult> settleSlots(
      int journal, String name, long epoch, SlotProgress progress) {
    return submit(new SettleSlots(journal, name, epoch, progress));
  }

  @Override
  public CompletionStage<RecordResult> redrive(
      int journal, String name, long from, long to, boolean discard) {
    return submit(new Redrive(journal, name, from, to, discard));
  }

  @Override
  public CompletionStage<RecordResult> deleteCursor(int journal, String name, long epoch) {
    return submit(new DeleteCursor(journal, name, epoch));
  }

  private <T> @Nullable T read(FilteredReader.RowsFunction<T> reading) {
    ShardServer shard = current;
    if (shard == null) {
      throw unavailable();
    }
    ShardStore store = shard.store();
    try (StoreLease lease = store.lease()) {
      return reading.apply(lease, store.applied().stamp());
    } catch (StoreFailedException | DamagedRowException | MalformedFrameException e) {
      if (!(e instanceof StoreFailedException)) {
        replaceSoon(shard, e);
      }
      throw new JournalsUnavailableException(
          options.shown() + ": cannot be read now: " + e.getMessage(), e);
    }
  }

  @Override
  public @Nullable JournalFigures figures(int journal) {
    return read(
        (rows, stamp) -> {
          JournalCounters counters = JournalPositions.counters(rows, journal);
          return counters == null
              ? null
              : new JournalFigures(
                  counters.firstPosition(),
                  counters.lastPosition(),
                  counters.events(),
                  counters.bytes(),
                  counters.topics(),
                  counters.producers(),
                  counters.delayed(),
                  counters.delayedBytes(),
                  counters.cursors(),
                  stamp);
        });
  }

  @Override
  public List<CursorView> cursors(int journal, String after, int max) {
    return Objects.requireNonNull(
        read((rows, stamp) -> CursorReader.cursors(rows, journal, after, max)));
  }

  @Override
  public @Nullable CursorView cursor(int journal, String name) {
    return read((rows, stamp) -> CursorReader.cursor(rows, journal, name));
  }

  @Override
  public long maxLag(int journal, int max) {
    return Objects.requireNonNull(read((rows, stamp) -> CursorReader.maxLag(rows, journal, max)));
  }

  @Override
  public List<ConsumerView> consumers(int journal, String name, long after, int max) {
    return Objects.requireNonNull(
        read((rows, stamp) -> CursorReader.consumers(rows, journal, name, after, max)));
  }

  @Override
  public List<WaitingEvents> waiting(int journal, String name, long due, long after, int max) {
    return Objects.requireNonNull(
        read((rows, stamp) -> CursorReader.waiting(rows, journal, name, due, after, max)));
  }

  @Override
  public @Nullable SlotsView slots(int journal, String name, long epoch) {
    return read((rows, stamp) -> SlotReader.slots(rows, journal, name, epoch));
  }

  @Override
  public List<DeadEvent> deadEvents(int journal, String name, long after, int max) {
    return Objects.requireNonNull(
        read((rows, stamp) -> CursorReader.deadEvents(rows, journal, name, after, max)));
  }

  @Override
  public long lastOfTopic(int journal, String topic) {
    Long position = read((rows, stamp) -> JournalPositions.lastOfTopic(rows, journal, topic));
    return position == null ? 0 : position;
  }

  @Override
  public long positionAt(int journal, long stamp) {
    JournalCatalog.Item item = catalog.find(journal);
    if (item == null || item.definition().keep() == KeepPolicy.LATEST) {
      return 0;
    }
    Long position = read((rows, now) -> JournalPositions.positionAt(rows, journal, stamp));
    return position == null ? 0 : position;
  }

  @Override
  public StoredEventReader reader(int journal, TopicFilter filter) {
    return new FilteredReader(
        journal,
        filter,
        this::read,
        () -> {
          JournalCatalog.Item item = catalog.find(journal);
          return item == null ? null : item.definition();
        },
        this::check);
  }

  private ReadBatch check(KeepPolicy keep, int number, ReadBatch batch) {
    ShardServer shard = current;
    if (shard == null) {
      throw unavailable();
    }
    batch.holes().stream()
        .filter(hole -> hole.reason() == ReadHole.Reason.DAMAGED)
        .findFirst()
        .ifPresent(hole -> damaged(number, unreadable(hole)));
    return shard.check(keep, number, batch);
  }

  /**
   * Replaces the rows of a replica by a copy, if another replica offers one: damaged are rows by
   * which others are found, and not only events.
   */
  private void replaceSoon(ShardServer shard, Exception damage) {
    if (options.replicas() == null || !looking.compareAndSet(false, true)) {
      return;
    }
    later(
        0,
        () -> {
          try {
            if (shard == current
                && new ReplicaCopy(options, new Others(), stopped, replicaListener)
                    .isOffered(shard.store().applied().index())) {
              shard.fail(new DamagedStoreException(String.valueOf(damage.getMessage()), damage));
            }
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          } finally {
            later(DAMAGE_PAUSE_MILLIS, () -> looking.set(false));
          }
        });
  }

  private static String unreadable(ReadHole hole) {
    return "positions " + hole.from() + " to " + hole.to() + " cannot be read";
  }

  @Override
  public Watch watch(JournalListener listener) {
    listeners.add(listener);
    return () -> listeners.remove(listener);
  }

  /** Ends the journals, and fails the calls that wait. What is in memory is brought to the disk. */
  @Override
  public void close() {
    closed = true;
    stopped.complete(null);
    current = null;
    opener.shutdown();
    try {
      if (!opener.awaitTermination(MAX_CLOSE_SECONDS, TimeUnit.SECONDS)) {
        LOG.error("{}: still being opened, not closed", options.shown());
        return;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return;
    }
    if (!closeLast()) {
      LOG.error("{}: still read, its files stay locked until the process ends", options.shown());
    }
  }
}
