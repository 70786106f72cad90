package io.eventbus.server.stats;

import io.eventbus.protocol.CloseReason;
import io.eventbus.schema.ErrorCode;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToLongFunction;

/** Counters of a bus: those of its loops, and those of rare things that any thread counts. */
public final class BusCounters {
  /** Open connections, whether or not they have said Hello. */
  public final AtomicInteger connections = new AtomicInteger();

  /** Connections accepted. */
  public final LongAdder accepted = new LongAdder();

  /** Clients whose authentication failed. */
  public final LongAdder authenticationFailures = new LongAdder();

  /** HTTP requests that did not become a connection. */
  public final LongAdder badRequests = new LongAdder();

  /** Clients whose resume was not made with this bus's key, and that got a new number. */
  public final LongAdder resumesRejected = new LongAdder();

  /** Stale sessions that peers have closed, because their clients are here. */
  public final LongAdder staleSessionsEnded = new LongAdder();

  /** Stale sessions that did not exist any more. */
  public final LongAdder staleSessionsGone = new LongAdder();

  /** Stale sessions at peers that could not be asked, or did not answer. */
  public final LongAdder staleSessionsUnknown = new LongAdder();

  /** Events of the bus itself that it did not publish, because it would have had to wait. */
  public final LongAdder sysEventsDropped = new LongAdder();

  /** Entries of the audit log that were left out. */
  public final LongAdder auditDropped = new LongAdder();

  private final List<LoopStats> loops;
  private final Map<CloseReason, LongAdder> closed = counters(CloseReason.class);
  private final Map<RefusalReason, LongAdder> refused = counters(RefusalReason.class);
  private final Map<TlsFailure, LongAdder> tlsFailures = counters(TlsFailure.class);
  private final Map<ErrorCode, LongAdder> problems = counters(ErrorCode.class);
  private final Map<ErrorCode, LongAdder> notStored = counters(ErrorCode.class);
  private final LongAdder closedByPeer = new LongAdder();

  /** Creates counters at zero. */
  public BusCounters(int loopCount) {
    List<LoopStats> all = new ArrayList<>();
    for (int i = 0; i < loopCount; i++) {
      all.add(new LoopStats());
    }
    loops = List.copyOf(all);
  }

  /** Returns the counters of each loop. */
  public List<LoopStats> loops() {
    return loops;
  }

  /** Sums one counter over all loops. */
  public long sum(ToLongFunction<LoopStats> counter) {
    return loops.stream().mapToLong(counter).sum();
  }

  /** Counts a connection that this bus closed. */
  public void countClose(CloseReason reason) {
    counter(closed, reason).increment();
  }

  /** Counts a connection that was refused before it could say anything. */
  public void countRefused(RefusalReason reason) {
    counter(refused, reason).increment();
  }

  /** Returns the connections that were refused for a reason. */
  public long refused(RefusalReason reason) {
    return counter(refused, reason).sum();
  }

  /** Counts a TLS handshake of a client that failed. */
  public void countTlsFailure(TlsFailure reason) {
    counter(tlsFailures, reason).increment();
  }

  /** Returns the TLS handshakes of clients that failed for a reason. */
  public long tlsFailures(TlsFailure reason) {
    return counter(tlsFailures, reason).sum();
  }

  /** Counts a connection that ended without a Close from this bus. */
  public void countClosedByPeer() {
    closedByPeer.increment();
  }

  /** Returns the connections that this bus closed for a reason. */
  public long closes(CloseReason reason) {
    return counter(closed, reason).sum();
  }

  /** Returns the connections that ended without a Close from this bus. */
  public long closesByPeer() {
    return closedByPeer.sum();
  }

  /** Counts a publication to a durable topic that is refused. */
  public void countNotStored(ErrorCode code) {
    counter(notStored, code).increment();
  }

  /** Returns the publications to durable topics that were refused with a code. */
  public long notStored(ErrorCode code) {
    return counter(notStored, code).sum();
  }

  /** Counts a Problem sent. */
  public void countProblem(ErrorCode code) {
    counter(problems, code).increment();
  }

  /** Returns the Problems sent with a code. */
  public long problems(ErrorCode code) {
    return counter(problems, code).sum();
  }

  private static <E extends Enum<E>> Map<E, LongAdder> counters(Class<E> type) {
    Map<E, LongAdder> counters = new EnumMap<>(type);
    for (E key : EnumSet.allOf(type)) {
      counters.put(key, new LongAdder());
    }
    return counters;
  }

  private static <E extends Enum<E>> LongAdder counter(Map<E, LongAdder> counters, E key) {
    LongAdder counter = counters.get(key);
    if (counter == null) {
      throw new IllegalStateException("no counter for " + key);
    }
    return counter;
  }
}
