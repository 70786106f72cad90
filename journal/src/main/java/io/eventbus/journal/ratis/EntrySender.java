package io.eventbus.journal.ratis;

import io.eventbus.base.StageFailures;
import io.eventbus.journal.JournalsUnavailableException;
import io.eventbus.journal.RecordResult;
import io.eventbus.journal.codec.EntryFormatException;
import io.eventbus.link.LinkServiceException;
import io.eventbus.raft.AppliedIndex;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Log of a shard at any of its buses: the entries of this bus on their way to the leader, which may
 * be this bus. They are kept until they are answered, and sent in their order.
 *
 * <p>After a failure nothing is sent until all calls under way have ended, or another leader is
 * known. Then all that has no answer is sent again, in a new round. So no entry overtakes an
 * earlier one, see {@link EntryReceiver}. Bounded by the gate, whose bytes these are.
 *
 * <p>State is confined to the executor; {@link #append} is for any thread.
 */
final class EntrySender implements ShardGate.Log {
  /** Time within which the leader answers an entry; after a majority is lost it steps down. */
  static final Duration CALL_TIMEOUT = Duration.ofSeconds(10);

  private static final int MIN_PAUSE_MILLIS = 20;
  private static final int MAX_PAUSE_MILLIS = 500;

  private static final Logger LOG = LoggerFactory.getLogger(EntrySender.class);

  /** Ways to the leader. */
  interface Network {
    /** Returns the member that leads as far as is known here; null for none. */
    @Nullable String leader();

    /** Opens a link to a member; calls that are made when that is done keep their order. */
    CompletableFuture<?> connect(String member);

    /** Calls the receiver at a member. */
    CompletableFuture<byte[]> call(String member, byte[] request);
  }

  /** Timer for tasks that are run on the executor. */
  interface Timer {
    /** Runs a task later. */
    void after(Duration delay, Runnable task);
  }

  private static final class Pending {
    private final ByteBuffer entry;
    private final CompletableFuture<List<RecordResult>> answer = new CompletableFuture<>();

    Pending(byte[] entry) {
      this.entry = ByteBuffer.wrap(entry);
    }
  }

  private final UUID group;
  private final String self;
  private final EntryReceiver receiver;
  private final Network network;
  private final AppliedIndex applied;
  private final Duration answerTimeout;
  private final Executor loop;
  private final Timer timer;
  private final LongSupplier nanoTime;
  private final Set<Pending> unanswered = new LinkedHashSet<>();
  private ArrayDeque<Pending> unsent = new ArrayDeque<>();
  private int underWay;
  private int failures;
  private long round = Long.MIN_VALUE;
  private long next;

  /** Leader of the round; null while there is none. */
  private @Nullable String leader;

  /** Set while the next round is being prepared. */
  private boolean beginning;

  /** Set if the round has failed, and calls of it are under way. */
  private boolean failed;

  private boolean closed;

  /**
   * Creates a sender.
   *
   * @param self the member of this bus
   * @param receiver that of this bus
   * @param applied index up to which entries are applied here: an answer waits for its entry
   * @param nanoTime begins rounds: greater than those of an earlier sender of this process
   */
  EntrySender(
      UUID group,
      String self,
      EntryReceiver receiver,
      Network network,
      AppliedIndex applied,
      Duration answerTimeout,
      Executor loop,
      Timer timer,
      LongSupplier nanoTime) {
    this.group = group;
    this.self = self;
    this.receiver = receiver;
    this.network = network;
    this.applied = applied;
    this.answerTimeout = answerTimeout;
    this.loop = loop;
    this.timer = timer;
    this.nanoTime = nanoTime;
  }

  @Override
  public CompletableFuture<List<RecordResult>> append(byte[] entry) {
    Pending pending = new Pending(entry);
    loop.execute(
        () -> {
          if (closed) {
            return;
          }
          unanswered.add(pending);
          unsent.add(pending);
          sendAll();
        });
    return pending.answer;
  }

  private void sendAll() {
    if (leader == null) {
      beginRound();
      return;
    }
    String member = leader;
    while (member != null && !failed && !unsent.isEmpty()) {
      Pending pending = unsent.remove();
      if (unanswered.contains(pending)) {
        send(member, pending);
      }
      member = leader;
    }
  }

  private void beginRound() {
    if (beginning || unanswered.isEmpty()) {
      return;
    }
    String found = network.leader();
    beginning = true;
    if (found == null) {
      later();
      return;
    }
    CompletableFuture<?> connected =
        found.equals(self) ? CompletableFuture.completedFuture(null) : network.connect(found);
    var unused = connected.whenComplete((link, error) -> execute(() -> connected(found, error)));
  }

  private void connected(String member, @Nullable Throwable error) {
    if (error != null) {
      LOG.debug("No link to {}", member, error);
      later();
      return;
    }
    beginning = false;
    failed = false;
    leader = member;
    round = Math.max(round + 1, nanoTime.getAsLong());
    next = 0;
    unsent = new ArrayDeque<>(unanswered);
    sendAll();
  }

  private void later() {
    int millis = Math.min(MIN_PAUSE_MILLIS << Math.min(failures, 5), MAX_PAUSE_MILLIS);
    try {
      timer.after(
          Duration.ofMillis(millis),
          () -> {
            beginning = false;
            beginRound();
          });
    } catch (RejectedExecutionException e) {
      LOG.debug("This bus ends", e);
    }
  }

  private void send(String member, Pending pending) {
    long inRound = round;
    EntryRequest request = new EntryRequest(group, inRound, next, pending.entry);
    next++;
    underWay++;
    CompletableFuture<RecordResultsMessage> answer =
        member.equals(self)
            ? receiver.accept(self, request)
            : network.call(member, request.encode()).thenCompose(EntrySender::decode);
    var unused =
        answer.whenComplete(
            (results, error) -> {
              if (error == null) {
                complete(pending, results);
              }
              execute(() -> answered(pending, inRound, error));
            });
  }

  private static CompletableFuture<RecordResultsMessage> decode(byte[] answer) {
    try {
      return CompletableFuture.completedFuture(EntryRequest.decodeAnswer(answer));
    } catch (EntryFormatException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Answers once the entry is applied here, too: who is answered finds what was done. */
  private void complete(Pending pending, RecordResultsMessage results) {
    if (results.index() <= applied.index()) {
      pending.answer.complete(results.results());
      return;
    }
    var unused =
        applied
            .await(results.index(), answerTimeout)
            .whenComplete(
                (reached, error) -> {
                  if (error == null) {
                    pending.answer.complete(results.results());
                  } else {
                    pending.answer.completeExceptionally(error);
                  }
                });
  }

  private void answered(Pending pending, long inRound, @Nullable Throwable error) {
    if (inRound != round) {
      if (error == null) {
        unanswered.remove(pending);
      }
      return;
    }
    underWay--;
    if (error == null) {
      failures = 0;
      unanswered.remove(pending);
    } else {
      fail(pending, error);
    }
    if (failed && underWay == 0) {
      failed = false;
      leader = null;
      if (!beginning && !unanswered.isEmpty()) {
        beginning = true;
        later();
      }
    }
  }

  private void fail(Pending pending, Throwable error) {
    Throwable cause = StageFailures.unwrap(error);
    if (!failed) {
      LOG.debug("Round {} to {} has failed", round, leader, cause);
      failed = true;
      failures++;
    }
    boolean refused =
        cause instanceof EntryFormatException
            || (cause instanceof LinkServiceException service
                && service.code().equals(EntryReceiver.REFUSED));
    if (refused) {
      // It would be refused each time.
      unanswered.remove(pending);
      pending.answer.completeExceptionally(
          new JournalsUnavailableException(
              "journal: not taken by " + leader + ": " + cause, cause));
    }
  }

  /**
   * Takes note of a leader. The answers of another one are not waited for: it may have stopped, and
   * what it still takes in its term is never committed.
   */
  void leaderChanged(String member) {
    try {
      // Not at once: the caller holds locks of Ratis.
      timer.after(Duration.ZERO, () -> follow(member));
    } catch (RejectedExecutionException e) {
      LOG.debug("This bus ends", e);
    }
  }

  private void follow(String member) {
    if (leader != null && !leader.equals(member)) {
      // Late answers belong to no round.
      round++;
      underWay = 0;
      failed = false;
      leader = null;
      beginRound();
    }
  }

  /** Sends nothing more; what is not answered has to be answered by the caller. */
  void close() {
    execute(
        () -> {
          closed = true;
          unanswered.clear();
          unsent.clear();
        });
  }

  private void execute(Runnable task) {
    try {
      loop.execute(task);
    } catch (RejectedExecutionException e) {
      LOG.debug("This bus ends", e);
    }
  }
}
