package io.eventbus.server.cluster;

import io.eventbus.link.BinaryFields;
import io.eventbus.link.LinkNode;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.Endpoint;
import io.eventbus.registry.Registry;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Closer of stale sessions: those that clients here have left behind at peers, and here those of
 * clients that have moved to peers. Any thread.
 *
 * <p>A peer is asked in one call at a time, with all sessions that have accumulated meanwhile. A
 * session that cannot be asked for is counted and forgotten: it ends by its own deadlines.
 */
public final class StaleSessionCloser implements AutoCloseable {
  /** Number of the service on links; loads and moves have those before it. */
  static final int SERVICE = 43;

  static final int MAX_IN_CALL = 1_000;

  /** Maximum of waiting sessions for all peers together: about 4 MB. */
  static final int MAX_WAITING = 20_000;

  /** Channel that loads use as well: such a link to a peer exists anyway. */
  private static final String CHANNEL = "balance";

  private static final Duration CALL_TIMEOUT = Duration.ofSeconds(2);

  /** Sessions of this bus. */
  public interface Local {
    /**
     * Ends a session.
     *
     * @param producer the number that it must have
     */
    boolean replace(String session, long producer);
  }

  /** Counts what became of sessions at other buses. */
  public interface Counts {
    /**
     * Counts the results of a peer, or of one that could not be asked.
     *
     * @param gone sessions that did not exist any more, or were another client's
     */
    void add(long ended, long gone, long unknown);
  }

  private record Left(String session, long producer) {}

  /** Sessions that one peer is still to be asked for; guarded by itself. */
  private static final class Waiting {
    final Deque<Left> sessions = new ArrayDeque<>();
    boolean asking;
  }

  private final LinkNode links;
  private final Function<String, @Nullable InetSocketAddress> addresses;
  private final Local local;
  private final Counts counts;
  private final Map<String, Waiting> buses = new ConcurrentHashMap<>();
  private final AtomicInteger waiting = new AtomicInteger();

  StaleSessionCloser(
      LinkNode links,
      Function<String, @Nullable InetSocketAddress> addresses,
      Local local,
      Counts counts) {
    this.links = links;
    this.addresses = addresses;
    this.local = local;
    this.counts = counts;
    links.offer(SERVICE, (peer, request) -> CompletableFuture.completedFuture(answer(request)));
  }

  /**
   * Begins to answer peers.
   *
   * @param registry knows their addresses
   */
  public static StaleSessionCloser of(
      LinkNode links, Registry registry, Local local, Counts counts) {
    return new StaleSessionCloser(links, bus -> address(registry, bus), local, counts);
  }

  private static @Nullable InetSocketAddress address(Registry registry, String bus) {
    BusInfo info;
    try {
      info = registry.snapshot().bus(new BusId(bus));
    } catch (IllegalArgumentException e) {
      // No bus has such a name: a client has made it up.
      return null;
    }
    Endpoint endpoint = info == null ? null : info.addresses().peers();
    return endpoint == null
        ? null
        : InetSocketAddress.createUnresolved(endpoint.host(), endpoint.port());
  }

  /** Asks the bus that the id names to end a session, soon. */
  public void end(String session, long producer) {
    String bus = bus(session);
    if (bus == null || addresses.apply(bus) == null || waiting.get() >= MAX_WAITING) {
      counts.add(0, 0, 1);
      return;
    }
    waiting.incrementAndGet();
    Waiting queue = buses.computeIfAbsent(bus, name -> new Waiting());
    synchronized (queue) {
      queue.sessions.add(new Left(session, producer));
      if (queue.asking) {
        return;
      }
      queue.asking = true;
    }
    ask(bus, queue);
  }

  /** Returns the bus's name: the text before its start and the number, which hold no '-'. */
  private static @Nullable String bus(String session) {
    int number = session.lastIndexOf('-');
    int start = number <= 0 ? -1 : session.lastIndexOf('-', number - 1);
    return start <= 0 ? null : session.substring(0, start);
  }

  private void ask(String bus, Waiting queue) {
    List<Left> all = new ArrayList<>();
    synchronized (queue) {
      while (all.size() < MAX_IN_CALL && !queue.sessions.isEmpty()) {
        all.add(queue.sessions.remove());
      }
      queue.asking = !all.isEmpty();
    }
    if (all.isEmpty()) {
      // The thread that has found it goes on with it all the same.
      buses.remove(bus, queue);
      return;
    }
    waiting.addAndGet(-all.size());
    InetSocketAddress address = addresses.apply(bus);
    CompletableFuture<byte[]> call =
        address == null
            ? CompletableFuture.failedFuture(new IOException(bus + " is gone"))
            : links.call(address, CHANNEL, SERVICE, request(all), CALL_TIMEOUT);
    var unused =
        call.thenApply(answer -> ended(answer, all.size()))
            .whenComplete(
                (ended, error) -> {
                  if (error == null) {
                    counts.add(ended, all.size() - ended, 0);
                  } else {
                    counts.add(0, 0, all.size());
                  }
                  ask(bus, queue);
                });
  }

  private byte[] answer(byte[] request) {
    int ended = 0;
    for (Left left : decode(request)) {
      if (local.replace(left.session(), left.producer())) {
        ended++;
      }
    }
    int count = ended;
    return BinaryFields.encode(out -> out.writeInt(count));
  }

  private static byte[] request(List<Left> all) {
    return BinaryFields.encode(
        out -> {
          out.writeInt(all.size());
          for (Left left : all) {
            out.writeUTF(left.session());
            out.writeLong(left.producer());
          }
        });
  }

  private static List<Left> decode(byte[] bytes) {
    return BinaryFields.decode(
        bytes,
        in -> {
          int count = BinaryFields.count(in, "sessions", MAX_IN_CALL);
          List<Left> all = new ArrayList<>(count);
          for (int i = 0; i < count; i++) {
            all.add(new Left(in.readUTF(), in.readLong()));
          }
          return all;
        });
  }

  private static int ended(byte[] bytes, int asked) {
    return BinaryFields.decode(bytes, in -> BinaryFields.count(in, "sessions", asked));
  }

  /** Answers other buses no more. */
  @Override
  public void close() {
    links.withdraw(SERVICE);
  }
}
