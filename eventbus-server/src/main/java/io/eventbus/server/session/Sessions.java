package io.eventbus.server.session;

import io.eventbus.protocol.CloseReason;
import io.eventbus.schema.Hello;
import io.eventbus.server.security.Principal;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongPredicate;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Sessions of a bus that have sent Hello. Any thread. */
public final class Sessions {
  private final NavigableMap<Long, Session> byNumber;
  private final Map<Long, Session> byProducer = new ConcurrentHashMap<>();
  // Second session of a client that moves from this bus to this bus, and its first.
  private final Map<Session, Session> firstDuringMove = new ConcurrentHashMap<>();

  private final SecureRandom random = new SecureRandom();
  private final AtomicLong lastNumber = new AtomicLong();
  private final String run;
  private final Clock clock;
  private final Supplier<List<String>> others;
  private final MoveTokens tokens;
  private final ResumeKey key;
  private volatile StaleSessions staleSessions = StaleSessions.NONE;

  /**
   * Creates an empty registry whose resumes are valid until it ends.
   *
   * @param clock for the time of each welcome, and to start numbering after earlier runs of the bus
   */
  public Sessions(String bus, Clock clock) {
    this(bus, clock, List::of, ResumeKey.ofThisRun());
  }

  /**
   * Creates an empty registry for a bus with peers.
   *
   * @param others supplies the URLs of peers that clients may use instead; must not block
   */
  public Sessions(String bus, Clock clock, Supplier<List<String>> others, ResumeKey key) {
    this(bus, clock, others, key, System::nanoTime);
  }

  /**
   * Creates an empty registry with another time source for tokens, for simulations.
   *
   * @param nanoTime clock such as {@link System#nanoTime}
   */
  public Sessions(
      String bus,
      Clock clock,
      Supplier<List<String>> others,
      ResumeKey key,
      LongSupplier nanoTime) {
    this(bus, clock, others, key, nanoTime, new ConcurrentSkipListMap<>());
  }

  Sessions(
      String bus,
      Clock clock,
      Supplier<List<String>> others,
      ResumeKey key,
      LongSupplier nanoTime,
      NavigableMap<Long, Session> byNumber) {
    this.byNumber = byNumber;
    this.others = others;
    this.key = key;
    this.clock = clock;
    this.tokens = new MoveTokens(bus, random, nanoTime);
    this.run = bus + "-" + Long.toString(clock.millis(), Character.MAX_RADIX) + "-";
  }

  List<String> others() {
    return others.get();
  }

  /** Returns the tokens of clients that move here. */
  public MoveTokens tokens() {
    return tokens;
  }

  /** Sets the closer of sessions at peers; before there are clients. */
  public void setStaleSessions(StaleSessions staleSessions) {
    this.staleSessions = staleSessions;
  }

  /**
   * Closes the stale session that a peer may have of a client that has come back. Returns false if
   * the session was at this bus.
   */
  boolean closeStale(String previous, long producer) {
    // A session of this bus was found by its producer number.
    boolean fromOther = !previous.startsWith(run);
    if (fromOther) {
      staleSessions.end(previous, producer);
    }
    return fromOther;
  }

  /** Returns the session of a producer, or null if it is not here. */
  public @Nullable Session ofProducer(long producer) {
    return byProducer.get(producer);
  }

  /**
   * Closes a session whose client has moved to another bus. Returns false if no session has both id
   * and producer; then nothing was done.
   */
  public boolean replace(String id, long producer) {
    Session session = id.startsWith(run) ? find(id.substring(run.length())) : null;
    if (session == null || session.producer() != producer || !session.identity().id().equals(id)) {
      return false;
    }
    replaced(session);
    return true;
  }

  private @Nullable Session find(String number) {
    try {
      return find(Long.parseLong(number));
    } catch (NumberFormatException e) {
      return null;
    }
  }

  private static void replaced(Session session) {
    session.close(
        CloseReason.REPLACED, "another connection has resumed this session; do not reconnect");
  }

  /** Returns whether a client with this resume would replace a session. */
  boolean wouldReplace(@Nullable String resume, Principal principal) {
    return resume != null
        && isValid(resume)
        && byProducer.containsKey(Resume.producer(resume, principal));
  }

  /** Returns whether a resume is valid here. */
  boolean isValid(String resume) {
    return key.hasSigned(resume);
  }

  /**
   * Assigns an identity to an admitted client. A resume with an invalid signature counts as none:
   * otherwise a client could choose its number.
   */
  ClientInfo identify(Hello hello, Principal principal, LongPredicate fitting) {
    String given = hello.getResume();
    String resume =
        given != null && isValid(given) ? given : key.create(random, principal, fitting);
    long number = lastNumber.incrementAndGet();
    return new ClientInfo(
        number,
        run,
        hello.getClient(),
        hello.getAgent(),
        hello.getAttributes(),
        Resume.producer(resume, principal),
        resume,
        clock.instant());
  }

  /** Creates a producer number that no client has, for events of the bus itself. */
  public long newProducer(LongPredicate fitting) {
    // The bus itself has no name among its clients.
    return Resume.producer(key.create(random, Principal.UNKNOWN, fitting), Principal.UNKNOWN);
  }

  /**
   * Adds a session and closes another with the same producer number, because its client has come
   * back.
   */
  void add(Session session, boolean duringMove) {
    byNumber.put(session.identity().number(), session);
    Session previous = byProducer.put(session.producer(), session);
    if (previous != null && duringMove) {
      firstDuringMove.put(session, previous);
    } else if (previous != null) {
      replaced(previous);
    }
  }

  void remove(Session session) {
    byNumber.remove(session.identity().number(), session);
    byProducer.remove(session.producer(), session);
    Session other = firstDuringMove.remove(session);
    if (other != null) {
      // If the move failed, the client is still here on its first connection. Checked inside,
      // because that session may end at this moment: it removes its number before its producer.
      byProducer.compute(
          session.producer(),
          (producer, current) ->
              current == null && find(other.identity().number()) != null ? other : current);
    }
  }

  /** Returns the number of clients; a client with two connections counts once. */
  public int size() {
    return byProducer.size();
  }

  /** Returns a session, or null. */
  public @Nullable Session find(long number) {
    return byNumber.get(number);
  }

  /**
   * Returns the sessions in the order of their numbers.
   *
   * @param after only those with a greater number
   */
  public Collection<Session> after(long after) {
    return Collections.unmodifiableCollection(byNumber.tailMap(after, false).values());
  }
}
