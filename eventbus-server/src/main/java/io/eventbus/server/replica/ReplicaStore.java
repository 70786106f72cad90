package io.eventbus.server.replica;

import io.eventbus.journal.Journals;
import io.eventbus.journal.JournalsUnavailableException;
import io.eventbus.journal.ratis.ShardJournals;
import io.eventbus.journal.ratis.ShardMember;
import io.eventbus.journal.ratis.ShardOptions;
import io.eventbus.journal.ratis.ShardReplicas;
import io.eventbus.journal.ratis.ShardStatus;
import io.eventbus.journal.store.StoreResources;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.Endpoint;
import io.eventbus.registry.ListenerRegistration;
import io.eventbus.registry.RegistryListener;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.registry.ShardInfo;
import io.eventbus.registry.ShardReplica;
import io.eventbus.server.durable.JournalCluster;
import io.eventbus.server.durable.JournalStore;
import io.eventbus.server.durable.ShardView;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Store of the journals at a bus of a cluster. It has no journals until the registry names this bus
 * in the shard of the journals; then it opens its replica, and at the next start at once. Any
 * thread may call any method.
 */
public final class ReplicaStore implements JournalStore, JournalCluster {
  private static final Logger LOG = LoggerFactory.getLogger(ReplicaStore.class);

  private static final int SHARD = 1;

  /** Time within which the replicas of the first journal have to be there, with a leader. */
  private static final Duration FIRST = Duration.ofSeconds(6);

  private static final long CLOSE_SECONDS = 90;

  private final Path directory;
  private final ReplicaPlace place;
  private final StoreResources resources;
  private final ReplicatedJournals journals = new ReplicatedJournals();
  private final CompletableFuture<ShardJournals> opened = new CompletableFuture<>();
  private final CompletableFuture<String> refused = new CompletableFuture<>();
  private final ExecutorService opener =
      Executors.newSingleThreadExecutor(
          task -> {
            Thread thread = new Thread(task, "eventbus-replica");
            thread.setDaemon(true);
            return thread;
          });
  private final KnownEverywhere known;
  private final ListenerRegistration registration;
  // Confined to the opener, once the store is open.
  private ReplicaFile file;

  private ReplicaStore(
      Path directory, ReplicaPlace place, StoreResources resources, ReplicaFile file)
      throws IOException {
    this.directory = directory;
    this.place = place;
    this.resources = resources;
    this.file = file;
    if (file.cluster() != null) {
      openReplica(file.cluster(), file.members());
    }
    known = new KnownEverywhere(place, opened);
    RegistryListener listener = (snapshot, changes) -> follow(snapshot);
    registration = place.registry().addListener(listener);
  }

  /**
   * Opens the data directory of a bus, and its replica if it has one.
   *
   * @throws IOException if it cannot be used; names problem, place and expectation
   */
  public static ReplicaStore open(Path directory, ReplicaPlace place) throws IOException {
    ReplicaFile file = ReplicaFile.open(directory, place.bus());
    StoreResources resources = StoreResources.open(directory.resolve("native"));
    try {
      return new ReplicaStore(directory, place, resources, file);
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
    return file.generation();
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
   * would take durable topics for ordinary ones before. Without a majority it waits in vain, and
   * goes by those that it knows.
   *
   * @param limit the longest time to wait
   * @throws IOException if the bus must not serve in this cluster, with the reason
   */
  @Override
  public void awaitReady(Duration limit) throws IOException {
    long begun = System.nanoTime();
    CompletableFuture<?> ready = opened.thenCompose(ShardJournals::ready);
    try {
      if (!opened.isDone()) {
        RegistrySnapshot snapshot =
            place
                .registry()
                .linearizableRead(limit)
                .toCompletableFuture()
                .get(limit.toMillis(), TimeUnit.MILLISECONDS);
        if (snapshot.shard(SHARD) == null) {
          return;
        }
        follow(snapshot);
      }
      Object unused =
          CompletableFuture.anyOf(ready, refused)
              .get(limit.toNanos() - (System.nanoTime() - begun), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while the journals were opened", e);
    } catch (ExecutionException | TimeoutException e) {
      LOG.warn(
          "The journals are not ready after {}: durable topics are unavailable until a majority of"
              + " their replicas is there",
          limit,
          e);
    }
    if (refused.isDone()) {
      throw new IOException(refused.join());
    }
  }

  private void follow(RegistrySnapshot snapshot) {
    ShardInfo shard = snapshot.shard(SHARD);
    String cluster = place.cluster().get();
    if (shard == null || cluster.isEmpty()) {
      return;
    }
    try {
      opener.execute(() -> follow(snapshot, shard, UUID.fromString(cluster)));
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
      List<ShardMember> members = members(snapshot, shard);
      if (!opened.isDone()) {
        openReplica(cluster, members);
      } else if (!members.equals(file.members())) {
        file = file.with(cluster, true, members);
        file.write(directory);
        ShardJournals open = opened.join();
        members.forEach(member -> open.learn(member.id(), member.address()));
      }
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
    for (ShardReplica replica : shard.replicas()) {
      if (replica.bus().value().equals(place.bus())) {
        return replica.generation() == file.generation()
            ? null
            : directory
                + ": generation "
                + file.generation()
                + " (expected: "
                + replica.generation()
                + ", with the replica of this bus; a bus that has lost its files cannot come back"
                + " yet)";
      }
    }
    return "the journals of the cluster have their replicas at "
        + shard.replicas().stream()
            .map(replica -> replica.bus().value())
            .collect(Collectors.joining(", "))
        + " (expected: "
        + place.bus()
        + " among them; a further bus cannot join a cluster with journals yet)";
  }

  private List<ShardMember> members(RegistrySnapshot snapshot, ShardInfo shard) throws IOException {
    List<ShardMember> members = new ArrayList<>();
    for (ShardReplica replica : shard.replicas()) {
      String id = ShardMember.id(replica.bus().value(), replica.generation());
      BusInfo bus = snapshot.bus(replica.bus());
      Endpoint address = bus == null ? null : bus.addresses().peers();
      String shown =
          address != null
              ? address.toString()
              : file.members().stream()
                  .filter(member -> member.id().equals(id))
                  .map(ShardMember::address)
                  .findFirst()
                  .orElseThrow(
                      () ->
                          new IOException("no address of " + id + " (expected: a registered bus)"));
      members.add(new ShardMember(id, shown, replica.voter()));
    }
    return members;
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
            journals::set);
    file = now.with(cluster, true, members);
    if (!file.equals(now)) {
      file.write(directory);
    }
    LOG.info(
        "The replica {} of the journals is open; replicas: {}",
        file.member(),
        members.stream().map(ShardMember::id).collect(Collectors.joining(", ")));
    opened.complete(open);
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
  public List<ShardView> shards() {
    ShardJournals open = opened.getNow(null);
    ShardStatus status = open == null ? null : open.status();
    return status == null ? List.of() : List.of(view(status));
  }

  private static ShardView view(ShardStatus status) {
    List<ShardView.Member> members = new ArrayList<>();
    for (ShardStatus.Member member : status.members()) {
      members.add(
          new ShardView.Member(
              ShardMember.bus(member.id()),
              ShardMember.generation(member.id()),
              member.voter(),
              member.behind(),
              member.needsCopy()));
    }
    String leader = status.leader();
    return new ShardView(
        SHARD,
        leader == null ? null : ShardMember.bus(leader),
        status.term(),
        status.committed(),
        status.applied(),
        status.ready(),
        members);
  }

  /** Ends the replica, which hands its leadership over; the links are still needed for that. */
  @Override
  public void close() {
    registration.close();
    known.close();
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
