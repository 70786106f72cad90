package io.eventbus.journal.ratis;

import io.eventbus.journal.copy.CopyReceiver;
import io.eventbus.journal.copy.CopyReceiver.Copied;
import io.eventbus.journal.copy.CopyRequest;
import io.eventbus.journal.copy.CopyRequest.Kind;
import io.eventbus.journal.copy.ReplicaState;
import io.eventbus.journal.store.ShardStore;
import io.eventbus.journal.store.StoreIdentity;
import io.eventbus.link.LinkServiceException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Copy of another replica's rows into the files of this one, which is closed meanwhile. Tries one
 * replica after the other, again and again, and always from the beginning.
 *
 * <p>For one thread, which waits; {@link #status} is for any thread.
 */
final class ReplicaCopy {
  private static final Logger LOG = LoggerFactory.getLogger(ReplicaCopy.class);

  private static final Duration STATE_TIMEOUT = Duration.ofSeconds(5);

  /** Time for a slice, which its source may have to read from a busy disk. */
  private static final Duration SLICE_TIMEOUT = Duration.ofSeconds(30);

  private static final long MIN_PAUSE_MILLIS = 500;
  private static final long MAX_PAUSE_MILLIS = 10_000;

  /** Interval of messages that the logs are still needed, and of those in the log about it. */
  static final Duration TELL = Duration.ofSeconds(10);

  /** Ways to the other replicas. */
  interface Others {
    /** Returns the ids of those that may be there. */
    Set<String> ids();

    /** Asks what {@link io.eventbus.journal.copy.CopySource} answers. */
    CompletableFuture<byte[]> ask(String member, byte[] request, Duration timeout);
  }

  private final ShardOptions options;
  private final Others others;
  private final CompletableFuture<?> stopped;
  private final ReplicaListener listener;
  private volatile Map<String, ReplicaState> states = Map.of();
  private volatile ShardStatus.Copy progress = new ShardStatus.Copy(null, 0, 0, null);
  private long toldNanos;

  /**
   * Creates a copy.
   *
   * @param stopped complete when it is to end
   */
  ReplicaCopy(
      ShardOptions options, Others others, CompletableFuture<?> stopped, ReplicaListener listener) {
    this.options = options;
    this.others = others;
    this.stopped = stopped;
    this.listener = listener;
  }

  private static ShardDirectory directory(ShardOptions options) throws IOException {
    return ShardDirectory.open(
        options.directory(), options.shard(), options.group(), options.member());
  }

  /** Returns whether the files of a replica wait for a copy. */
  static boolean isWanted(ShardOptions options) throws IOException {
    try (ShardDirectory directory = directory(options)) {
      return directory.isCopying();
    }
  }

  /**
   * Gives up the files of a replica that is closed, for a copy.
   *
   * @param begin the first entry that the leader has
   */
  static void want(ShardOptions options, long begin) throws IOException {
    try (ShardDirectory directory = directory(options)) {
      if (!directory.isCopying()) {
        directory.beginCopy(begin);
      }
    }
  }

  /**
   * Returns whether another replica would send a copy now. A replica whose rows are damaged may
   * give them up only then: the others may have the same damage.
   *
   * @param least the least entry that the copy has to have
   */
  boolean isOffered(long least) throws InterruptedException {
    askAll();
    for (String source : sources()) {
      try {
        receiver(source).probe(least);
        return true;
      } catch (IOException | LinkServiceException e) {
        LOG.info("{}: {} offers no copy: {}", options.shown(), source, e.getMessage());
      }
    }
    return false;
  }

  /** Copies; returns whether the files are complete, false if this was stopped before. */
  boolean run() throws InterruptedException {
    long pause = MIN_PAUSE_MILLIS;
    while (!stopped.isDone()) {
      try {
        round();
        return true;
      } catch (IOException | RuntimeException e) {
        fail(e, pause);
      }
      pause(pause);
      pause = Math.min(2 * pause, MAX_PAUSE_MILLIS);
    }
    return false;
  }

  private void fail(Exception e, long pause) {
    if (stopped.isDone()) {
      return;
    }
    String problem = e instanceof IOException ? String.valueOf(e.getMessage()) : e.toString();
    if (!problem.equals(progress.problem())) {
      LOG.warn("{}: not copied, next try in {} ms: {}", options.shown(), pause, problem, e);
      listener.copyFailed(problem);
    }
    progress = new ShardStatus.Copy(null, 0, 0, problem);
  }

  private void pause(long millis) throws InterruptedException {
    try {
      var unused = stopped.get(millis, TimeUnit.MILLISECONDS);
    } catch (TimeoutException | ExecutionException e) {
      LOG.trace("{}: next try", options.shown(), e);
    }
  }

  private void round() throws IOException, InterruptedException {
    askAll();
    List<String> problems = new ArrayList<>();
    for (String source : sources()) {
      try {
        copy(source);
        return;
      } catch (LinkServiceException e) {
        problems.add(source + ": " + e.code() + ": " + e.getMessage());
      } catch (IOException e) {
        problems.add(source + ": " + e.getMessage());
      }
      check();
    }
    throw new IOException(
        problems.isEmpty()
            ? "none of " + others.ids() + " has caught up (expected: one that has)"
            : String.join("; ", problems));
  }

  /** Returns the replicas that have caught up; the leader, which has enough to do, comes last. */
  private List<String> sources() {
    return states.entrySet().stream()
        .filter(entry -> entry.getValue().ready())
        .sorted(
            Comparator.comparing(
                    (Map.Entry<String, ReplicaState> entry) ->
                        entry.getValue().leader().equals(entry.getKey()))
                .thenComparing(Map.Entry.comparingByKey()))
        .map(Map.Entry::getKey)
        .toList();
  }

  private void check() throws IOException {
    if (stopped.isDone()) {
      throw new IOException("stopped");
    }
  }

  /** Asks all others for their states, and to keep their logs. */
  private void askAll() throws InterruptedException {
    Map<String, ReplicaState> found = new HashMap<>();
    for (Map.Entry<String, CompletableFuture<byte[]>> answer : keepLogs().entrySet()) {
      try {
        found.put(answer.getKey(), ReplicaState.decode(await(answer.getValue(), STATE_TIMEOUT)));
      } catch (IOException | LinkServiceException e) {
        LOG.debug("{}: no state of {}", options.shown(), answer.getKey(), e);
      }
    }
    states = Map.copyOf(found);
  }

  /** Asks all others to keep their logs for a while; they answer with their states. */
  Map<String, CompletableFuture<byte[]>> keepLogs() {
    toldNanos = System.nanoTime();
    Map<String, CompletableFuture<byte[]>> answers = new HashMap<>();
    byte[] request = new CopyRequest(Kind.STATE, options.group(), options.member(), 1, 0).encode();
    for (String id : others.ids()) {
      answers.put(id, others.ask(id, request, STATE_TIMEOUT));
    }
    return answers;
  }

  private byte[] await(CompletableFuture<byte[]> answer, Duration timeout)
      throws IOException, InterruptedException {
    try {
      var unused =
          CompletableFuture.anyOf(answer, stopped)
              .get(2 * timeout.toMillis(), TimeUnit.MILLISECONDS);
      check();
      return answer.join();
    } catch (TimeoutException e) {
      throw new IOException("no answer within " + timeout, e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof LinkServiceException refusal) {
        throw refusal;
      }
      throw new IOException(String.valueOf(e.getCause()), e);
    }
  }

  private void copy(String member) throws IOException, InterruptedException {
    LOG.info("{}: copies the rows of {}", options.shown(), member);
    listener.copying(member);
    try (ShardDirectory directory = directory(options)) {
      directory.clear();
      Copied copied = receive(member, directory);
      long configured = CopiedReplica.index(copied.configuration());
      if (configured > copied.applied().index()) {
        throw new IOException(
            "members of entry "
                + configured
                + (" (expected: at most of " + copied.applied().index() + ")"));
      }
      directory.endCopy(copied.applied().index(), copied.configuration());
      LOG.info(
          "{}: has {} rows and {} bytes of {}, up to entry {}",
          options.shown(),
          copied.rows(),
          copied.bytes(),
          member,
          copied.applied().index());
      listener.copied(member, copied.bytes());
    }
  }

  private Copied receive(String member, ShardDirectory directory)
      throws IOException, InterruptedException {
    ShardStore store =
        ShardStore.open(
            directory.store(),
            new StoreIdentity(options.group(), options.member()),
            options.tuning().store(),
            options.resources(),
            failure -> {});
    try {
      return receiver(member).copy(store, directory.least());
    } finally {
      close(store);
    }
  }

  /**
   * Closes a store, whose files the next attempt deletes. Only a flush may hold it up, which has a
   * deadline.
   */
  private static void close(ShardStore store) throws InterruptedException {
    while (!store.tryClose()) {
      if (Thread.currentThread().isInterrupted()) {
        throw new InterruptedException("store " + store.directory() + ": not closed");
      }
    }
  }

  private CopyReceiver receiver(String member) {
    return new CopyReceiver(options.group(), options.member(), source(member), progress(member));
  }

  private CopyReceiver.Source source(String member) {
    return new CopyReceiver.Source() {
      @Override
      public String id() {
        return member;
      }

      @Override
      public byte[] ask(CopyRequest request) throws IOException, InterruptedException {
        return await(others.ask(member, request.encode(), SLICE_TIMEOUT), SLICE_TIMEOUT);
      }
    };
  }

  private CopyReceiver.Progress progress(String member) {
    return (bytes, expected) -> {
      check();
      progress = new ShardStatus.Copy(member, bytes, expected, null);
      if (System.nanoTime() - toldNanos > TELL.toNanos()) {
        LOG.info("{}: has {} bytes of {}, of about {}", options.shown(), bytes, member, expected);
        Map<String, CompletableFuture<byte[]>> unused = keepLogs();
      }
    };
  }

  /** Returns what is known of the shard meanwhile. */
  ShardStatus status() {
    List<ShardStatus.Member> members = new ArrayList<>();
    ReplicaState newest =
        states.values().stream()
            .max(Comparator.comparingLong(ReplicaState::configured))
            .orElse(new ReplicaState("", false, -1, List.of(), List.of()));
    newest.voters().forEach(id -> members.add(member(id, true)));
    newest.listeners().forEach(id -> members.add(member(id, false)));
    String leader = newest.leader().isEmpty() ? null : newest.leader();
    return new ShardStatus(leader, -1, -1, -1, false, true, false, progress, members);
  }

  private ShardStatus.Member member(String id, boolean voter) {
    return new ShardStatus.Member(id, voter, -1, id.equals(options.member()));
  }
}
