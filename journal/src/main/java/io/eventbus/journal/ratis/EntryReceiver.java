package io.eventbus.journal.ratis;

import io.eventbus.journal.codec.Entry;
import io.eventbus.journal.codec.EntryFormatException;
import io.eventbus.journal.codec.EntryReader;
import io.eventbus.journal.codec.EntryWriter;
import io.eventbus.link.LinkPeer;
import io.eventbus.link.LinkService;
import io.eventbus.link.LinkServiceException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Entry into the log of a shard for the entries of all buses, at the leader.
 *
 * <p>The entries of a sender come in rounds. An entry is taken only after the one before it in its
 * round was handed to Ratis, in the same term, and if none of the round has failed: so that a later
 * one never overtakes an earlier one, which would be a gap in the numbers of a producer. After a
 * failure the sender begins a round with all that it has no answer to; an entry that is in the log
 * twice is recognized by the rules.
 *
 * <p>State is confined to the executor, on which entries are handed to Ratis, too.
 */
final class EntryReceiver implements LinkService {
  /** Code of a failure after which all that is not answered is sent again, in a new round. */
  static final String AGAIN = "AGAIN";

  /** Code for an entry that must not reach the log. */
  static final String REFUSED = "REFUSED";

  /** Replica at this bus. */
  interface Replica {
    /** Returns the current term. */
    long term();

    /** Hands an entry to Ratis before the call returns; fails where this bus does not lead. */
    CompletableFuture<RecordResultsMessage> submit(EntryMessage entry);
  }

  /** Sender with the bytes of its entries under way. */
  private static final class Sender {
    private final AtomicLong bytes = new AtomicLong();
    private @Nullable Round round;
  }

  private static final class Round {
    private final long number;
    private final long term;
    private long next;
    private volatile boolean failed;

    Round(long number, long term) {
      this.number = number;
      this.term = term;
    }
  }

  private final UUID group;
  private final Replica replica;
  private final LongSupplier clock;
  private final long maxBytes;
  private final Executor loop;
  private final EntryReader reader = new EntryReader();
  private final Map<String, Sender> senders = new HashMap<>();

  /**
   * Creates a receiver.
   *
   * @param clock stamp of an entry that is made now
   * @param maxBytes maximum bytes of the entries of one sender that are under way
   */
  EntryReceiver(UUID group, Replica replica, LongSupplier clock, long maxBytes, Executor loop) {
    this.group = group;
    this.replica = replica;
    this.clock = clock;
    this.maxBytes = maxBytes;
    this.loop = loop;
  }

  private static String sender(LinkPeer peer) {
    return peer.bus() + "/" + peer.instance();
  }

  @Override
  public CompletionStage<byte[]> answer(LinkPeer peer, byte[] bytes) {
    EntryRequest request = EntryRequest.decode(bytes);
    if (!request.group().equals(group)) {
      throw new LinkServiceException(
          AGAIN, "group: " + request.group() + " (expected: " + group + ")");
    }
    return CompletableFuture.completedFuture(request)
        .thenComposeAsync(each -> receive(sender(peer), each), loop)
        .thenApply(EntryRequest::encodeAnswer);
  }

  private CompletableFuture<RecordResultsMessage> receive(String sender, EntryRequest request) {
    ByteBuffer entry = request.entry();
    try {
      Entry unused = reader.read(entry);
    } catch (EntryFormatException e) {
      // One that cannot be applied would end the shard, at each start anew.
      return failed(REFUSED, String.valueOf(e.getMessage()));
    }
    EntryWriter.setStamp(entry, entry.position(), clock.getAsLong());
    return accept(sender, request);
  }

  /**
   * Takes an entry of a bus that has checked it, and has set its stamp. On the executor; the future
   * fails with {@link LinkServiceException}, or as Ratis does.
   */
  CompletableFuture<RecordResultsMessage> accept(String name, EntryRequest request) {
    Sender sender = senders.computeIfAbsent(name, key -> new Sender());
    Round round = sender.round;
    long term = replica.term();
    if (request.number() == 0 && (round == null || request.round() > round.number)) {
      round = new Round(request.round(), term);
      sender.round = round;
    }
    if (round == null || round.number != request.round()) {
      return failed(AGAIN, "round: " + request.round() + " (expected: the last one, from 0 on)");
    }
    String problem = problem(sender, round, request, term);
    if (problem != null) {
      round.failed = true;
      return failed(AGAIN, problem);
    }
    round.next++;
    return submit(sender, round, EntryMessage.of(request.entry()));
  }

  private @Nullable String problem(Sender sender, Round round, EntryRequest request, long term) {
    if (round.failed) {
      return "round " + round.number + " has failed";
    } else if (round.term != term) {
      return "term: " + term + " (expected: " + round.term + ", as when the round began)";
    } else if (round.next != request.number()) {
      return "entry: " + request.number() + " (expected: " + round.next + ")";
    } else if (sender.bytes.get() + request.entry().remaining() > maxBytes) {
      return "under way: " + sender.bytes.get() + " bytes (expected: at most " + maxBytes + ")";
    }
    return null;
  }

  private CompletableFuture<RecordResultsMessage> submit(
      Sender sender, Round round, EntryMessage entry) {
    int size = entry.content().size();
    sender.bytes.addAndGet(size);
    CompletableFuture<RecordResultsMessage> answer;
    try {
      answer = replica.submit(entry);
    } catch (RuntimeException e) {
      answer = CompletableFuture.failedFuture(e);
    }
    return answer.whenComplete(
        (results, error) -> {
          sender.bytes.addAndGet(-size);
          if (error != null) {
            round.failed = true;
          }
        });
  }

  private static <T> CompletableFuture<T> failed(String code, String message) {
    return CompletableFuture.failedFuture(new LinkServiceException(code, message));
  }

  /** Forgets a sender whose link has ended: what it sends next begins a round. */
  void ended(LinkPeer peer) {
    loop.execute(() -> senders.remove(sender(peer)));
  }
}
