package io.eventbus.server.replica;

import io.eventbus.journal.Journals;
import io.eventbus.journal.JournalsUnavailableException;
import io.eventbus.journal.ratis.ReplicaListener;
import io.eventbus.journal.ratis.ShardJournals;
import io.eventbus.journal.ratis.ShardMember;
import io.eventbus.journal.ratis.ShardOptions;
import io.eventbus.journal.ratis.ShardReplicas;
import io.eventbus.journal.ratis.ShardStatus;
import io.eventbus.journal.store.StoreResources;
import io.eventbus.registry.ListenerRegistration;
import io.eventbus.registry.RegistryListener;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.registry.ShardInfo;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.durable.JournalCluster;
import io.eventbus.server.durable.JournalRefusedException;
import io.eventbus.server.durable.JournalStore;
import io.eventbus.server.durable.ShardView;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Store of the journals at a bus of a cluster. It has no journals until the registry has a shard of
 * them. A bus that is named in the first placement opens its replica then. One that starts later
 * opens its own, which asks the others to let it follow, and serves when that is ready: until then
 * it does not know which topics are durable. At the next start the replica is opened at once. Any
 * thread may call any method.
 */
public final class ReplicaStore implements JournalStore, JournalCluster {
  private static final Logger LOG = LoggerFactory.getLogger(ReplicaStore.class);

  private static final int SHARD = 1;

  /** Time within which the replicas of the first journal have to be there, with a leader. */
  private static final Duration FIRST = Duration.ofSeconds(6);

  private static final long CLOSE_SECONDS = 90;
  private static final long LOOK_MILLIS = 1_000;

  private final Path directory;
  private final ReplicaPlace place;
  private final StoreResources resources;
  private final ReplicatedJournals journals = new ReplicatedJournals();
  private final CompletableFuture<ShardJournals> opened = new CompletableFuture<>();
  private final CompletableFuture<String> refused = new CompletableFuture<>();
  private final ExecutorService opener = Executors.newSingleThreadExecutor(named("replica"));
  private final ScheduledThreadPoolExecutor placing =
      new ScheduledThreadPoolExecutor(1, named("placement"));
  private final PlacementDuty duty;
  private final ShardWatch watch;
  private final ReplicaListener listener;
  private final PlacementRequests requests;
  private final ReplicaJoining joining;
  private final KnownEverywhere known;
  private final ListenerRegistration registration;
  private final int generation;
  // Confined to the opener, once the store is open.
  private ReplicaFile file;
  // Whether this bus may serve before its replica is ready: it knows journals, if not the last.
  private final boolean knowsJournals;
  // Whether the registry was asked with all that is committed; what it replays may be old.
  private volatile boolean asked;
  private volatile boolean serves;

  private ReplicaStore(
      Path directory,
      ReplicaPlace place,
      StoreResources resources,
      ReplicaFile file,
      Consumer<Advisory> advisories)
      throws IOException {
    this.directory = directory;
    this.place = place;
    this.resources = resources;
    this.file = file;
    generation = file.generation();
    watch = new ShardWatch(place.bus(), SHARD, advisories, System::nanoTime);
    listener = new ReplicaAdvisories(place.bus(), SHARD, advisories);
    knowsJournals = file.ready();
    duty =
        new PlacementDuty(
            file.member(),
            SHARD,
            place.registry(),
            new OwnShard(),
            place.replaceAfter(),
            placing,
            System::nanoTime);
    if (file.cluster() != null) {
      asked = true;
      openReplica(file.cluster(), file.members());
    }
    known = new KnownEverywhere(place, opened);
    requests = new PlacementRequests(place, SHARD, duty, placing);
    joining = new ReplicaJoining(place, generation, opened, requests);
    RegistryListener follower = (snapshot, changes) -> changed(snapshot);
    registration = place.registry().addListener(follower);
    var unused =
        placing.scheduleWithFixedDelay(this::look, LOOK_MILLIS, LOOK_MILLIS, TimeUnit.MILLISECONDS);
  }

  private static ThreadFactory named(String name) {
    return task -> {
      Thread thread = new Thread(task, "eventbus-" + name);
      thread.setDaemon(true);
      return thread;
    };
  }

  /** Shard of this bus, once it is open. */
  private final class OwnShard implements PlacementDuty.Shard {
    @Override
    public @Nullable ShardStatus status() {
      ShardJournals open = opened.getNow(null);
      return open == null ? null : open.status();
    }

    @Override
    public CompletableFuture<Void> changeMembers(List<ShardMember> members) {
      return opened.thenCompose(open -> open.changeMembers(members));
    }
  }

  /**
   * Opens the data directory of a bus, and its replica if it has one.
   *
   * @param advisories told of what operators want to know at once
   * @throws IOException if it cannot be used; names problem, place and expectation
   */
  public static ReplicaStore open(Path directory, ReplicaPlace place, Consumer<Advisory> advisories)
      throws IOException {
    ReplicaFile file = ReplicaFile.open(directory, place.bus());
    StoreResources resources = StoreResources.open(directory.resolve("native"));
    try {
      return new ReplicaStore(directory, place, resources, file, advisories);
    } catch (IOException | RuntimeException e) {
      resources.close();
      throw e;
    }
  }

  /**
   * Checks that a directory, of a bus that is in no cluster, is not that of a bus in one.
   *
   * @throws IOException if it is
   */
  public static void checkNone(Path directory) throws IOException {
    ReplicaFile.checkNone(directory);
  }

  @Override
  public Journals journals() {
    return journals;
  }

  @Override
  public JournalCluster cluster() {
    return this;
  }

  @Override
  public int generation() {
    return generation;
  }

  @Override
  public boolean isOpen() {
    return opened.isDone();
  }

  @Override
  public CompletionStage<String> refused() {
    return refused.minimalCompletionStage();
  }

  /**
   * Waits until this bus routes by the journals that there are: a bus of a cluster with journals
   * would take durable topics for ordinary ones before. Without a majority it waits in vain. Then
   * it goes by those that it knows; if it never knew any, or there is a majority, it has to wait
   * on.
   *
   * @param limit the longest time to wait
   * @return whether this bus may serve
   * @throws IOException if the bus must not serve in this cluster, with the reason
   */
  @Override
  public boolean awaitReady(Duration limit) throws IOException {
    long begun = System.nanoTime();
    try {
      if (!opened.isDone()) {
        RegistrySnapshot snapshot =
            place
                .registry()
                .linearizableRead(limit)
                .toCompletableFuture()
                .get(limit.toMillis(), TimeUnit.MILLISECONDS);
        asked = true;
        if (snapshot.shard(SHARD) == null) {
          serves = true;
          return true;
        }
        follow(snapshot);
      }
      Object unused =
          CompletableFuture.anyOf(opened.thenCompose(ShardJournals::ready), refused)
              .get(limit.toNanos() - (System.nanoTime() - begun), TimeUnit.NANOSECONDS);
      serves = true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while the journals were opened", e);
    } catch (ExecutionException | TimeoutException e) {
      // Where the journals are led, this replica only needs more time.
      serves =
          knowsJournals && opened.isDone() && opened.join().knowsJournals() && !joining.isLed();
      if (serves) {
        LOG.warn(
            "The journals are not ready after {}: durable topics are unavailable until a majority"
                + " of their replicas is there",
            limit,
            e);
      } else {
        LOG.info(
            "This bus takes no clients yet: it does not know all journals of its cluster ({})",
            opened.isDone() ? "its replica is not ready" : "the registry has not told");
      }
    }
    if (refused.isDone()) {
      throw new IOException(refused.join());
    }
    return serves;
  }

  private void changed(RegistrySnapshot snapshot) {
    if (asked) {
      follow(snapshot);
    }
    run(placing, duty::look);
  }

  private void follow(RegistrySnapshot snapshot) {
    ShardInfo shard = snapshot.shard(SHARD);
    String cluster = place.cluster().get();
    if (shard == null || cluster.isEmpty()) {
      return;
    }
    run(opener, () -> follow(snapshot, shard, UUID.fromString(cluster)));
  }

  /** Runs a task, unless the bus ends. */
  private static void run(Executor executor, Runnable task) {
    try {
      executor.execute(task);
    } catch (RejectedExecutionException e) {
      LOG.debug("The bus ends", e);
    }
  }

  private void follow(RegistrySnapshot snapshot, ShardInfo shard, UUID cluster) {
    String problem = problem(shard, cluster);
    if (problem != null) {
      refused.complete(problem);
      return;
    }
    try {
      List<ShardMember> members = ReplicaMembers.of(snapshot, shard, file, place.address());
      if (!opened.isDone()) {
        openReplica(cluster, members);
      } else if (!members.equals(file.members())) {
        file = file.with(cluster, true, members);
        file.write(directory);
        ShardJournals open = opened.join();
        members.forEach(member -> open.learn(member.id(), member.address()));
      }
      run(placing, () -> duty.learn(members));
    } catch (IOException | RuntimeException e) {
      LOG.error("The replica of the journals cannot be used", e);
      refused.complete("the replica of the journals cannot be used: " + e.getMessage());
    }
  }

  private @Nullable String problem(ShardInfo shard, UUID cluster) {
    UUID known = file.cluster();
    if (known != null && !known.equals(cluster)) {
      return ReplicaFile.path(directory)
          + ": the replica of another cluster, "
          + known
          + " (expected: "
          + cluster
          + ")";
    }
    boolean named =
        shard.replicas().stream()
            .anyMatch(
                replica ->
                    replica.bus().value().equals(place.bus())
                        && replica.generation() == file.generation());
    return opened.isDone() || named || !serves
        ? null
        : "the first journal was created while this bus started, without a replica here (expected:"
            + " a start after that, with which this bus joins the journals)";
  }

  /** Looks what is to be done for the shard if this bus leads it, and for its replica. */
  // An error must not end the timer.
  @SuppressWarnings("CatchingUnchecked")
  private void look() {
    try {
      duty.look();
      joining.look();
      ShardJournals open = opened.getNow(null);
      watch.look(open == null ? null : open.status());
    } catch (Exception e) {
      LOG.warn("The placement of the replicas was not looked at", e);
    }
  }

  private void openReplica(UUID cluster, List<ShardMember> members) throws IOException {
    ReplicaFile now = file.with(cluster, file.opened(), members);
    if (!now.equals(file)) {
      now.write(directory);
    }
    ShardJournals open =
        ShardJournals.open(
            new ShardOptions(
                directory.resolve("shards"),
                cluster,
                SHARD,
                now.member(),
                new ShardReplicas(place.links(), members),
                resources,
                ShardOptions.Tuning.DEFAULT),
            opening -> {
              opening.listen(listener);
              journals.set(opening);
            });
    file = now.with(cluster, true, members);
    if (!file.equals(now)) {
      file.write(directory);
    }
    LOG.info(
        "The replica {} of the journals is open; replicas: {}",
        file.member(),
        members.stream().map(ShardMember::id).collect(Collectors.joining(", ")));
    opened.complete(open);
    var unused = open.ready().thenRun(this::becameReady);
  }

  private void becameReady() {
    run(
        opener,
        () -> {
          try {
            if (!file.ready()) {
              file = file.whenReady();
              file.write(directory);
            }
          } catch (IOException e) {
            // The next start waits for a majority then.
            LOG.warn("{} could not be written", ReplicaFile.path(directory), e);
          }
        });
  }

  @Override
  public CompletionStage<Void> prepare(boolean creates) {
    if (opened.isDone()) {
      return opened.thenCompose(ShardJournals::appliedUpToNow);
    }
    if (!creates) {
      return CompletableFuture.completedFuture(null);
    }
    return FirstPlacement.place(place.registry(), SHARD)
        .thenCompose(nothing -> opened)
        .thenCompose(ShardJournals::ready)
        .toCompletableFuture()
        .copy()
        .orTimeout(FIRST.toMillis(), TimeUnit.MILLISECONDS)
        .exceptionallyCompose(
            error ->
                CompletableFuture.failedFuture(
                    error instanceof TimeoutException
                        ? new JournalsUnavailableException(
                            "the replicas of the journals are not ready after "
                                + FIRST.toSeconds()
                                + " s (expected: a majority of them); asking for the same again is"
                                + " safe")
                        : error));
  }

  @Override
  public CompletionStage<Void> whenKnown() {
    return known.ask();
  }

  @Override
  public CompletionStage<Void> moveVote(String bus, boolean leaves) {
    return ask(
        leaves ? PlacementMessages.Operation.LEAVE : PlacementMessages.Operation.MOVE_VOTE, bus);
  }

  @Override
  public CompletionStage<Void> removeReplica(String bus) {
    return ask(PlacementMessages.Operation.REMOVE, bus);
  }

  private CompletionStage<Void> ask(PlacementMessages.Operation operation, String bus) {
    return place.registry().snapshot().shard(SHARD) == null
        ? CompletableFuture.failedFuture(
            new JournalRefusedException("the cluster has no journals yet", false))
        : requests.untilDone(PlacementMessages.Request.about(operation, bus));
  }

  @Override
  public @Nullable String warning(String bus) {
    return ShardViews.warning(place.registry().snapshot(), SHARD, bus);
  }

  @Override
  public List<ShardView> shards() {
    ShardJournals open = opened.getNow(null);
    ShardStatus status = open == null ? null : open.status();
    return status == null ? List.of() : List.of(ShardViews.of(SHARD, status));
  }

  /** Ends the replica, which hands its leadership over; the links are still needed for that. */
  @Override
  public void close() {
    registration.close();
    known.close();
    requests.close();
    placing.shutdownNow();
    opener.shutdown();
    try {
      if (!opener.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
        LOG.error("The replica of the journals is still being opened, not closed");
        return;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return;
    }
    ShardJournals open = opened.getNow(null);
    if (open != null) {
      open.close();
    }
    resources.close();
  }
}
