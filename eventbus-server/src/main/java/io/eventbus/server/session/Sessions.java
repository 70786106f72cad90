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

/** The sessions of a bus that have said Hello. Any thread. */
public final class Sessions {
  private final NavigableMap<Long, Session> byNumber;
  private final Map<Long, Session> byProducer = new ConcurrentHashMap<>();
  // The second session of a client that changes from this bus to this bus, and the first.
  private final Map<Session, Session> firstDuringChange = new ConcurrentHashMap<>();

  private final SecureRandom random = new SecureRandom();
  private final AtomicLong lastNumber = new AtomicLong();
  private final String run;
  private final Clock clock;
  private final Supplier<List<String>> others;
  private final MoveTokens tokens;
  private final ResumeKey key;
  private volatile StaleSessions elsewhere = StaleSessions.NONE;

  /**
   * Makes an empty registry, whose clients are known for as long as it is there.
   *
   * @param clock for the time of each welcome, and to start numbering where no earlier run of the
   *     same bus was
   */
  public Sessions(String bus, Clock clock) {
    this(bus, clock, List::of, ResumeKey.ofThisRun());
  }

  /**
   * Makes an empty registry for a bus that knows others.
   *
   * @param others gives the addresses of other buses, where clients may go instead; must not block
   */
  public Sessions(String bus, Clock clock, Supplier<List<String>> others, ResumeKey key) {
    this(bus, clock, others, key, System::nanoTime);
  }

  /**
   * Makes an empty registry with another time for tokens, as a simulation does.
   *
   * @param nanoTime as {@link System#nanoTime}
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

  /** Returns what lets clients in that come from other buses. */
  public MoveTokens tokens() {
    return tokens;
  }

  /** Sets what ends sessions at other buses; before there are clients. */
  public void elsewhere(StaleSessions others) {
    elsewhere = others;
  }

  /**
   * Ends what another bus still has of a client that has come back.
   *
   * @return false if that was at this bus
   */
  boolean cameBack(String previous, long producer) {
    // What this bus has of it was found by the number.
    boolean fromOther = !previous.startsWith(run);
    if (fromOther) {
      elsewhere.end(previous, producer);
    }
    return fromOther;
  }

  /**
   * Finds a session.
   *
   * @return its session, or null if it is not here
   */
  public @Nullable Session ofProducer(long producer) {
    return byProducer.get(producer);
  }

  /**
   * Closes a session whose client has gone to another bus.
   *
   * @return false if there is no session with both; then nothing was done
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

  /** Says whether a client with this resume would take the place of a session. */
  boolean wouldReplace(@Nullable String resume, Principal who) {
    return resume != null && isGood(resume) && byProducer.containsKey(Resume.producer(resume, who));
  }

  /** Says whether a resume leads to a number here. */
  boolean isGood(String resume) {
    return key.hasSigned(resume);
  }

  /**
   * Gives a client that was let in its identity. A resume that was not made with this key counts as
   * none: whoever could choose it could choose the number.
   */
  ClientInfo identify(Hello hello, Principal who, LongPredicate fitting) {
    String given = hello.getResume();
    String resume = given != null && isGood(given) ? given : key.create(random, who, fitting);
    long number = lastNumber.incrementAndGet();
    return new ClientInfo(
        number,
        run,
        hello.getClient(),
        hello.getAgent(),
        hello.getAttributes(),
        Resume.producer(resume, who),
        resume,
        clock.instant());
  }

  /** Makes a producer number that no client has, for what the bus itself publishes. */
  public long newProducer(LongPredicate fitting) {
    // The bus itself has no name among its clients.
    return Resume.producer(key.create(random, Principal.UNKNOWN, fitting), Principal.UNKNOWN);
  }

  /**
   * Adds a session; one that has the same producer number is closed, because its client has come
   * back.
   */
  void add(Session session, boolean duringChange) {
    byNumber.put(session.identity().number(), session);
    Session before = byProducer.put(session.producer(), session);
    if (before != null && duringChange) {
      firstDuringChange.put(session, before);
    } else if (before != null) {
      replaced(before);
    }
  }

  void remove(Session session) {
    byNumber.remove(session.identity().number(), session);
    byProducer.remove(session.producer(), session);
    Session other = firstDuringChange.remove(session);
    if (other != null) {
      // If the change came to nothing, the client is still here on its first connection. Looked at
      // inside, because that one may end at this moment: it leaves its number before its producer.
      byProducer.compute(
          session.producer(),
          (producer, there) ->
              there == null && find(other.identity().number()) != null ? other : there);
    }
  }

  /**
   * Says how many clients there are.
   *
   * @return 0 or more; a client with two connections counts once
   */
  public int size() {
    return byProducer.size();
  }

  /**
   * Finds a session.
   *
   * @return the session, or null
   */
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
