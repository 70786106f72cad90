package io.eventbus.server.session;

import io.eventbus.base.StageFailures;
import io.eventbus.journal.JournalNames;
import io.eventbus.journal.KeepPolicy;
import io.eventbus.journal.Settlement;
import io.eventbus.journal.TakenRun;
import io.eventbus.protocol.CloseReason;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Confirm;
import io.eventbus.schema.Consume;
import io.eventbus.schema.ConsumeMode;
import io.eventbus.schema.ConsumeStart;
import io.eventbus.schema.Drained;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Problem;
import io.eventbus.schema.Settle;
import io.eventbus.schema.SettleOutcome;
import io.eventbus.server.admission.AddressLimits;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.DeliveryAllocator;
import io.eventbus.server.delivery.DeliveryKind;
import io.eventbus.server.durable.JournalConsumer;
import io.eventbus.server.durable.JournalConsumers;
import io.eventbus.server.durable.JournalInfo;
import io.eventbus.server.durable.KeySharedConsumer;
import io.eventbus.server.durable.OrderedConsumer;
import io.eventbus.server.durable.QueueConsumer;
import io.eventbus.server.durable.SharedConsumer;
import io.eventbus.server.queue.Outbound;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Consumers of one session. Allocated with the first. Confined to the loop except for {@link
 * #keptBytes}.
 */
final class SessionConsumers implements JournalConsumer.Line {
  /** Heap of a consumer, about. */
  static final int CONSUMER_BYTES = 1024;

  /** Bytes of stored events that wait for the client or are being read for it. */
  private static final long MAX_AHEAD = 512 << 10;

  /** Bytes that wait above which no more consumers begin. */
  private static final long MAX_WAITING = 2 * MAX_AHEAD;

  /** Maximum number of consumers whose beginning waits for the journal. */
  private static final int MAX_BEGINNING = 16;

  /** Interval in which cursors are used: journals delete those that are idle for seven days. */
  static final long KEEP_NANOS = TimeUnit.DAYS.toNanos(1);

  /** Maximum number of journals that a refusal names. */
  private static final int MAX_NAMED = 5;

  /** Limits of shared consumers whose clients state none, and the bounds of the second one. */
  private static final int MAX_EVENTS = 256;

  private static final int ACK_TIMEOUT_MILLIS = 30_000;
  private static final int MAX_ATTEMPTS = 10;
  private static final int MIN_ACK_TIMEOUT_MILLIS = 1_000;
  private static final int MAX_ACK_TIMEOUT_MILLIS = 43_200_000;

  private final LoopContext loop;
  private final JournalConsumers all;
  private final Outbound out;
  private final ConnectionControl connection;
  private final AddressLimits address;
  private final Session session;
  private final JournalQuestions questions;
  private final Map<Long, JournalConsumer> byId = new HashMap<>();
  private final Map<Long, Comparison> comparing = new HashMap<>();
  private final Set<JournalConsumer> waitingForRoom = new LinkedHashSet<>();
  private final Set<JournalConsumer> ticking = new LinkedHashSet<>();
  private long keptAt;
  private int reads;
  private int beginning;
  private boolean roomIsDue;
  private boolean awaitsMemory;
  private boolean closed;
  // Heap of the consumers; what other threads see of it.
  private long heap;
  private volatile long held;
  // The request that waits until others have begun.
  private @Nullable Runnable retry;
  // Consumers left to review; null for none.
  private @Nullable Iterator<JournalConsumer> unreviewed;

  /** Request that waits until this bus knows whether its journal was created again. */
  private static final class Comparison {
    final Consume request;

    Comparison(Consume request) {
      this.request = request;
    }
  }

  SessionConsumers(
      LoopContext loop,
      JournalConsumers all,
      Outbound out,
      ConnectionControl connection,
      AddressLimits address,
      Session session) {
    this.loop = loop;
    this.all = all;
    this.out = out;
    this.connection = connection;
    this.address = address;
    this.session = session;
    this.questions = new JournalQuestions(all, connection, session, address);
    this.keptAt = all.nanoTime();
    out.onFeedWritten(this::room);
  }

  @Override
  public long connection() {
    return session.identity().number();
  }

  /** Returns whether an id is that of a consumer. */
  boolean has(long id) {
    return byId.containsKey(id) || comparing.containsKey(id);
  }

  /** Returns whether a consumer reads a journal. */
  boolean reads(int journal) {
    return byId.values().stream().anyMatch(each -> each.info().number() == journal);
  }

  JournalQuestions questions() {
    return questions;
  }

  /** Returns the heap of the consumers, about; any thread. */
  long keptBytes() {
    return held;
  }

  /**
   * Begins a consumer, or refuses it. Returns false if it has to wait; then nothing was done.
   *
   * @param again called once if it has to wait
   */
  boolean consume(Consume request, Runnable again) {
    if (beginning >= MAX_BEGINNING || out.feedBytes() > MAX_WAITING) {
      retry = again;
      return false;
    }
    consume(request);
    return true;
  }

  private void consume(Consume request) {
    String illegal = illegal(request);
    if (illegal != null) {
      refuse(ErrorCode.ILLEGAL_FILTER, illegal, request);
      return;
    }
    TopicFilter filter = TopicFilter.parse(request.getFilter());
    String forbidden = session.subscriptions().forbidden(filter);
    if (forbidden != null) {
      refuse(ErrorCode.FORBIDDEN, forbidden, request);
      return;
    }
    if (isDuplicate(request)) {
      return;
    }
    if (isKnown(request)) {
      begin(request, filter);
    } else {
      compare(request);
    }
  }

  /** Refuses a request whose id is in use; returns false if it is not. */
  private boolean isDuplicate(Consume request) {
    long id = request.getId();
    SessionServices services = session.services();
    if (!session.subscriptions().has(id)
        && !comparing.containsKey(id)
        && (services == null || !services.has(id))) {
      return false;
    }
    refuse(
        ErrorCode.DUPLICATE_SUBSCRIPTION,
        "the number " + id + " is in use already (expected: a new one)",
        request);
    return true;
  }

  /** Returns whether this bus has the journal that the client has read, if it has read any. */
  private boolean isKnown(Consume request) {
    if (request.getCreation() == 0) {
      return true;
    }
    JournalInfo journal = all.find(session.principal().account(), request.getJournal());
    return journal != null && journal.isCreation(request.getCreation());
  }

  /**
   * Begins a consumer when everything is applied here that any bus had before: the client has read
   * a journal that this bus does not know, so one of both is behind.
   */
  private void compare(Consume request) {
    beginning++;
    Comparison comparison = new Comparison(request);
    comparing.put(request.getId(), comparison);
    var unused =
        all.appliedUpToNow()
            .whenComplete(
                (nothing, failure) -> connection.execute(() -> compared(comparison, failure)));
  }

  private void compared(Comparison comparison, @Nullable Throwable failure) {
    Consume request = comparison.request;
    // The id may be that of another request by now.
    if (comparing.remove(request.getId(), comparison)) {
      TopicFilter filter = TopicFilter.parse(request.getFilter());
      String forbidden = session.subscriptions().forbidden(filter);
      if (failure != null) {
        session.sendProblem(
            new Problem(
                ErrorCode.UNAVAILABLE,
                String.valueOf(StageFailures.unwrap(failure).getMessage()),
                true,
                request.getId(),
                TypeCode.CONSUME.code(),
                ""));
      } else if (forbidden != null) {
        refuse(ErrorCode.FORBIDDEN, forbidden, request);
      } else if (!isDuplicate(request)) {
        begin(request, filter);
      }
    }
    opened();
  }

  private void begin(Consume request, TopicFilter filter) {
    JournalInfo journal = find(request, filter);
    if (journal == null) {
      return;
    }
    boolean isOther = !journal.isCreation(request.getCreation());
    ConsumeStart start = isOther ? request.getOtherStart() : request.getStart();
    String unsupported = unsupported(request, start, journal);
    if (unsupported != null) {
      refuse(ErrorCode.UNSUPPORTED, unsupported, request);
      return;
    }
    SharedConsumer.Limits limits = isQueue(request) ? limits(request) : null;
    String overLimit = limits == null ? null : overLimit(limits);
    long bytes = CONSUMER_BYTES + (limits == null ? 0 : heapBytes(request, limits));
    if (overLimit == null) {
      overLimit = session.subscriptions().acquireConsumer(request.getId(), bytes);
    }
    if (overLimit != null) {
      refuse(ErrorCode.LIMIT_EXCEEDED, overLimit, request);
      return;
    }
    loop.bus.memory().reserve(bytes);
    beginning++;
    JournalConsumer.Wish wish =
        new JournalConsumer.Wish(
            request.getId(),
            filter,
            request.getName(),
            start,
            isOther ? request.getOtherFrom() : request.getFrom(),
            request.getLimit());
    JournalConsumer consumer = create(request, journal, wish, limits);
    byId.put(request.getId(), consumer);
    holds(bytes);
    consumer.start();
  }

  private JournalConsumer create(
      Consume request,
      JournalInfo journal,
      JournalConsumer.Wish wish,
      SharedConsumer.@Nullable Limits limits) {
    if (limits == null) {
      return new OrderedConsumer(all, journal, wish, this);
    }
    return request.getMode() == ConsumeMode.KEY_SHARED
        ? new KeySharedConsumer(all, journal, wish, limits, this)
        : new SharedConsumer(all, journal, wish, limits, this);
  }

  /** Returns whether the consumers of a durable subscription share its events. */
  private static boolean isQueue(Consume request) {
    return request.getMode() == ConsumeMode.SHARED || request.getMode() == ConsumeMode.KEY_SHARED;
  }

  private static long heapBytes(Consume request, SharedConsumer.Limits limits) {
    return request.getMode() == ConsumeMode.KEY_SHARED
        ? KeySharedConsumer.heapBytes(limits)
        : limits.heapBytes();
  }

  private static SharedConsumer.Limits limits(Consume request) {
    return new SharedConsumer.Limits(
        request.getMaxEvents() == 0 ? MAX_EVENTS : request.getMaxEvents(),
        request.getAckTimeoutMillis() == 0 ? ACK_TIMEOUT_MILLIS : request.getAckTimeoutMillis(),
        request.getMaxAttempts() == 0 ? MAX_ATTEMPTS : request.getMaxAttempts());
  }

  private static @Nullable String overLimit(SharedConsumer.Limits limits) {
    String events = outside("maxEvents", limits.maxEvents(), 1, SharedConsumer.MAX_EVENTS);
    if (events != null) {
      return events;
    }
    String timeout =
        outside(
            "ackTimeoutMillis",
            limits.ackTimeoutMillis(),
            MIN_ACK_TIMEOUT_MILLIS,
            MAX_ACK_TIMEOUT_MILLIS);
    return timeout == null
        ? outside("maxAttempts", limits.maxAttempts(), 1, TakenRun.MAX_ATTEMPTS)
        : timeout;
  }

  private static @Nullable String outside(String field, int value, int min, int max) {
    return value >= min && value <= max
        ? null
        : field + ": " + value + " (expected: " + min + ".." + max + ")";
  }

  private static @Nullable String illegal(Consume request) {
    String filter = TopicFilter.problem(request.getFilter());
    if (filter != null) {
      return filter;
    }
    String journal =
        request.getJournal().isEmpty() ? null : JournalNames.problem(request.getJournal());
    if (journal != null) {
      return "journal: " + journal;
    }
    String name = request.getName().isEmpty() ? null : JournalNames.problem(request.getName());
    return name == null ? null : "name of the durable subscription: " + name;
  }

  private static @Nullable String unsupported(
      Consume request, ConsumeStart start, JournalInfo journal) {
    if (request.getMode() == ConsumeMode.UNKNOWN) {
      return "the mode of the consumer is unknown to this bus (expected: EXCLUSIVE, SHARED or"
          + " KEY_SHARED)";
    }
    if (isQueue(request)) {
      String unshared = unshared(request, start, journal);
      if (unshared != null) {
        return unshared;
      }
    }
    if (start == ConsumeStart.UNKNOWN) {
      return "the start of the consumer is unknown to this bus (expected: FIRST, NEW,"
          + " LATEST_VALUES, POSITION or TIME)";
    }
    if (start == ConsumeStart.LATEST_VALUES && journal.keep() != KeepPolicy.LATEST) {
      return "journal "
          + journal.name().name()
          + " keeps all events (expected for LATEST_VALUES: one that keeps the latest values)";
    }
    return null;
  }

  private static @Nullable String unshared(
      Consume request, ConsumeStart start, JournalInfo journal) {
    if (request.getName().isEmpty()) {
      return request.getMode() + " without a name (expected: the name of a durable subscription)";
    }
    if (start == ConsumeStart.LATEST_VALUES) {
      return request.getMode() + " from the latest values (expected: FIRST, NEW, POSITION or TIME)";
    }
    if (journal.keep() != KeepPolicy.ALL) {
      return "journal "
          + journal.name().name()
          + " keeps the latest values (expected for "
          + request.getMode()
          + ": one that keeps all events)";
    }
    return null;
  }

  /** Returns the journal; refuses the request and returns null if there is none. */
  private @Nullable JournalInfo find(Consume request, TopicFilter filter) {
    String account = session.principal().account();
    String name = request.getJournal();
    if (!name.isEmpty()) {
      JournalInfo found = all.find(account, name);
      if (found == null) {
        refuse(
            ErrorCode.NO_JOURNAL,
            "there is no journal " + name + " (expected: one that an operator has created)",
            request);
      }
      return found;
    }
    List<JournalInfo> found = all.find(account, filter, MAX_NAMED);
    if (found.size() == 1) {
      return found.get(0);
    }
    refuse(
        ErrorCode.NO_JOURNAL,
        found.isEmpty()
            ? "no journal has topics of the filter " + filter + " (expected: one that has)"
            : "journals "
                + found.stream().map(each -> each.name().name()).collect(Collectors.joining(", "))
                + " have topics of the filter "
                + filter
                + " (expected: a single one, or the name of one)",
        request);
    return null;
  }

  private void refuse(ErrorCode code, String message, Consume request) {
    session.refuse(code, message, request.getId(), TypeCode.CONSUME.code(), "");
  }

  /** Settles events. */
  void settle(Settle request) {
    JournalConsumer consumer = byId.get(request.getId());
    if (consumer == null || consumer.wish().name().isEmpty()) {
      refuse(
          ErrorCode.UNKNOWN_SUBSCRIPTION,
          "the connection has no consumer "
              + request.getId()
              + " of a durable subscription (expected: the id of a Consume with a name)",
          request);
    } else if (!consumer.isActive()) {
      refuse(
          ErrorCode.UNKNOWN_SUBSCRIPTION,
          "consumer " + request.getId() + " is not active (expected: Settle after its first Feed)",
          request);
    } else if (!consumer.info().isCreation(request.getCreation())) {
      refuse(
          ErrorCode.UNKNOWN_SUBSCRIPTION,
          "creation: "
              + request.getCreation()
              + " of the journal "
              + consumer.info().name().name()
              + " (expected: "
              + consumer.info().creation()
              + ", which the consumer reads)",
          request);
    } else if (consumer instanceof QueueConsumer queue) {
      settle(queue, request);
    } else if (consumer instanceof OrderedConsumer ordered) {
      settle(ordered, request);
    }
  }

  private void settle(OrderedConsumer consumer, Settle request) {
    if (request.getFrom() != 0 || request.getOutcome() != SettleOutcome.DONE) {
      refuse(
          ErrorCode.UNSUPPORTED,
          "outcome "
              + request.getOutcome()
              + " from "
              + request.getFrom()
              + " of a consumer that is not SHARED (expected: DONE from 0)",
          request);
    } else if (request.getUpTo() > consumer.head()) {
      refuse(
          ErrorCode.LIMIT_EXCEEDED,
          "upTo: "
              + request.getUpTo()
              + " is beyond the end of the journal (expected: at most "
              + consumer.head()
              + ")",
          request);
    } else if (!consumer.settle(request.getUpTo(), request.getConfirm())) {
      refuse(ErrorCode.LIMIT_EXCEEDED, tooManySettlements(), request);
    }
  }

  private static String tooManySettlements() {
    return "the consumer waits for "
        + JournalConsumer.MAX_CONFIRMATIONS
        + " answers to Settle (expected: at most "
        + JournalConsumer.MAX_CONFIRMATIONS
        + ")";
  }

  private void settle(QueueConsumer consumer, Settle request) {
    long from = request.getFrom();
    long upTo = request.getUpTo();
    int attempt = request.getAttempt();
    if (from == 0 || attempt == 0) {
      refuse(
          ErrorCode.UNSUPPORTED,
          "from: " + from + ", attempt: " + attempt + " (expected for SHARED: those of a Feed)",
          request);
    } else if (request.getDelayMillis() > Settlement.MAX_DELAY_MILLIS) {
      refuse(
          ErrorCode.LIMIT_EXCEEDED,
          "delayMillis: "
              + request.getDelayMillis()
              + " (expected: at most "
              + Settlement.MAX_DELAY_MILLIS
              + ")",
          request);
    } else if (upTo > consumer.sentTo()) {
      refuse(
          ErrorCode.LIMIT_EXCEEDED,
          "upTo: "
              + upTo
              + " was not sent (expected: at most "
              + consumer.sentTo()
              + ", the last position of the consumer)",
          request);
    } else if (request.getOutcome() == SettleOutcome.EXTEND) {
      boolean extended = consumer.extend(from, upTo, attempt);
      if (extended && request.getConfirm()) {
        settled(consumer, upTo);
      } else if (!extended) {
        late(request);
      }
    } else {
      Settlement.Outcome outcome = outcome(request.getOutcome());
      if (outcome == null) {
        refuse(
            ErrorCode.UNSUPPORTED,
            "the outcome is unknown to this bus (expected: DONE, RETRY, REJECT, RELEASE or"
                + " EXTEND)",
            request);
        return;
      }
      boolean hasReason =
          outcome == Settlement.Outcome.RETRY || outcome == Settlement.Outcome.REJECT;
      SharedConsumer.Settled settled =
          consumer.settle(
              from,
              upTo,
              attempt,
              outcome,
              outcome == Settlement.Outcome.RETRY ? request.getDelayMillis() : -1,
              hasReason ? request.getReason() : "",
              request.getConfirm());
      switch (settled) {
        case ACCEPTED -> {}
        case LATE -> late(request);
        case TOO_MANY -> refuse(ErrorCode.LIMIT_EXCEEDED, tooManySettlements(), request);
      }
    }
  }

  private static Settlement.@Nullable Outcome outcome(SettleOutcome outcome) {
    return switch (outcome) {
      case DONE -> Settlement.Outcome.DONE;
      case RETRY -> Settlement.Outcome.RETRY;
      case REJECT -> Settlement.Outcome.REJECT;
      case RELEASE -> Settlement.Outcome.RELEASE;
      case EXTEND, UNKNOWN -> null;
    };
  }

  /** Counts a settlement of events that the consumer has no more; tells it if it is asked. */
  private void late(Settle request) {
    loop.stats.lateSettlements.add(1);
    if (request.getConfirm()) {
      refuse(
          ErrorCode.UNKNOWN_SUBSCRIPTION,
          "positions "
              + request.getFrom()
              + ".."
              + request.getUpTo()
              + " of attempt "
              + request.getAttempt()
              + ": the consumer has some of them no more (expected: those that it has got and not"
              + " settled, within their time)",
          request);
    }
  }

  private void refuse(ErrorCode code, String message, Settle request) {
    session.refuse(code, message, request.getId(), TypeCode.SETTLE.code(), "");
  }

  /** Raises the limit of a consumer; one that has ended meanwhile is ignored. */
  void credit(long id, long limit) {
    JournalConsumer consumer = byId.get(id);
    if (consumer != null) {
      consumer.grant(limit);
    }
  }

  /** Ends a consumer, which is there. */
  void unsubscribe(long id) {
    Comparison comparison = comparing.remove(id);
    JournalConsumer consumer = byId.get(id);
    if (comparison != null) {
      Consume request = comparison.request;
      confirm(TypeCode.CONSUME, id, request.getJournal(), 0, request.getCreation());
      confirm(TypeCode.UNSUBSCRIBE, id, "", 0, 0);
      drained(id);
    } else if (consumer == null) {
      throw new IllegalStateException("no consumer " + id);
    } else if (consumer.isFinishing()) {
      session.refuse(
          ErrorCode.UNKNOWN_SUBSCRIPTION,
          "consumer " + id + " ends already (expected: one that does not)",
          id,
          TypeCode.UNSUBSCRIBE.code(),
          "");
    } else {
      if (consumer.isBeginning()) {
        accepted(consumer);
      }
      confirm(TypeCode.UNSUBSCRIBE, id, "", 0, 0);
      consumer.finish();
    }
  }

  @Override
  public void finished(JournalConsumer consumer) {
    long id = consumer.wish().id();
    if (!closed && byId.remove(id, consumer)) {
      left(consumer);
      drained(id);
    }
  }

  private void drained(long id) {
    send(ControlFrames.encode(TypeCode.DRAINED, new Drained(id)), DeliveryKind.FEED);
  }

  private void holds(long more) {
    heap += more;
    held = heap;
  }

  /** Releases what a consumer had that has ended. */
  private void left(JournalConsumer consumer) {
    ticking.remove(consumer);
    waitingForRoom.remove(consumer);
    long bytes = CONSUMER_BYTES + consumer.heapBytes();
    holds(-bytes);
    loop.bus.memory().release(bytes);
    session.subscriptions().releaseConsumer(consumer.wish().id(), bytes);
  }

  /**
   * Ends consumers that are no longer allowed. Returns false if the rest is left for a later tick.
   */
  boolean endForbidden() {
    Iterator<JournalConsumer> rest = unreviewed;
    if (rest == null) {
      rest = List.copyOf(byId.values()).iterator();
      unreviewed = rest;
    }
    while (rest.hasNext()) {
      if (!loop.budget().hasReviewLeft()) {
        return false;
      }
      long began = loop.budget().now();
      JournalConsumer consumer = rest.next();
      if (byId.get(consumer.wish().id()) == consumer) {
        String forbidden = session.subscriptions().forbidden(consumer.wish().filter());
        if (forbidden != null) {
          consumer.end();
          ended(consumer, ErrorCode.FORBIDDEN, forbidden, false);
        }
      }
      loop.budget().spendOnReview(began);
    }
    unreviewed = null;
    return true;
  }

  /** Tells how far consumers have come that get no events, and keeps their cursors. */
  void onTick() {
    if (all.nanoTime() - keptAt >= KEEP_NANOS) {
      keptAt = all.nanoTime();
      List.copyOf(byId.values()).forEach(JournalConsumer::keepCursor);
    }
    for (JournalConsumer consumer : List.copyOf(ticking)) {
      if (consumer.tick()) {
        ticking.remove(consumer);
      }
    }
  }

  /**
   * Ends all consumers: at once or, if there are many, in later turns.
   *
   * @param lost whether the connection is lost, so that nobody handles what was sent
   */
  void close(boolean lost) {
    closed = true;
    retry = null;
    waitingForRoom.clear();
    ticking.clear();
    Iterator<JournalConsumer> left = List.copyOf(byId.values()).iterator();
    long bytes = keptBytes();
    byId.clear();
    comparing.clear();
    holds(-heap);
    loop.bus.memory().release(bytes);
    session.subscriptions().releaseConsumers(bytes);
    if (left.hasNext()) {
      loop.calls.inSlices(
          () -> {
            if (left.hasNext()) {
              left.next().end(lost);
            }
            return left.hasNext();
          });
    }
  }

  // ---- For consumers

  @Override
  public int loop() {
    return loop.router.loop();
  }

  @Override
  public Object address() {
    return address.shareOf();
  }

  @Override
  public void execute(Runnable task) {
    connection.execute(task);
  }

  @Override
  public DeliveryAllocator frames() {
    return loop.router.deliveries();
  }

  @Override
  public boolean begin(JournalConsumer consumer) {
    if (closed) {
      return false;
    }
    if (hasRoom()) {
      reads++;
      return true;
    }
    waitingForRoom.add(consumer);
    if (loop.bus.memory().isOver() && !awaitsMemory) {
      awaitsMemory = true;
      loop.bus
          .memory()
          .whenBelow(
              () ->
                  connection.execute(
                      () -> {
                        awaitsMemory = false;
                        room();
                      }));
    }
    return false;
  }

  private boolean hasRoom() {
    return out.feedBytes() + (long) reads * JournalConsumer.READ_BYTES < MAX_AHEAD
        && !loop.bus.memory().isOver();
  }

  @Override
  public void end(JournalConsumer consumer) {
    reads--;
    if (!waitingForRoom.isEmpty() && !roomIsDue) {
      roomIsDue = true;
      connection.inTurn(
          () -> {
            roomIsDue = false;
            room();
          });
    }
  }

  /** Lets those go on for which there is room. */
  private void room() {
    if (closed) {
      return;
    }
    beginMore();
    while (hasRoom()) {
      Iterator<JournalConsumer> waiting = waitingForRoom.iterator();
      if (!waiting.hasNext()) {
        return;
      }
      JournalConsumer next = waiting.next();
      waiting.remove();
      next.advance();
    }
  }

  private void beginMore() {
    Runnable waiting = retry;
    if (waiting != null && beginning < MAX_BEGINNING && out.feedBytes() <= MAX_WAITING) {
      retry = null;
      waiting.run();
    }
  }

  @Override
  public void send(Delivery frame, int events) {
    if (closed) {
      frame.release();
    } else {
      loop.stats.eventsOut.add(events);
      out.send(frame);
    }
  }

  @Override
  public void tickSoon(JournalConsumer consumer) {
    ticking.add(consumer);
  }

  @Override
  public void opened() {
    beginning--;
    if (!closed) {
      beginMore();
    }
  }

  @Override
  public void accepted(JournalConsumer consumer) {
    JournalInfo journal = consumer.info();
    confirm(TypeCode.CONSUME, consumer.wish().id(), journal.name().name(), 0, journal.creation());
  }

  @Override
  public void ended(JournalConsumer consumer, ErrorCode code, String message, boolean retryable) {
    if (closed || !byId.remove(consumer.wish().id(), consumer)) {
      return;
    }
    left(consumer);
    loop.bus.stats().countProblem(code);
    Problem problem =
        new Problem(code, message, retryable, consumer.wish().id(), TypeCode.CONSUME.code(), "");
    // Behind the last Feed: the client may use the id again.
    send(ControlFrames.encode(TypeCode.PROBLEM, problem), DeliveryKind.FEED);
  }

  @Override
  public void settled(JournalConsumer consumer, long upTo) {
    confirm(TypeCode.SETTLE, consumer.wish().id(), "", upTo, 0);
  }

  @Override
  public void unsettled(JournalConsumer consumer, String message) {
    if (!closed) {
      session.sendProblem(
          new Problem(
              ErrorCode.UNAVAILABLE,
              message,
              true,
              consumer.wish().id(),
              TypeCode.SETTLE.code(),
              ""));
    }
  }

  @Override
  public void failed() {
    connection.inTurn(
        () -> connection.close(CloseReason.OVERLOADED, "the bus has no memory for this client"));
  }

  /** Confirms a request, before any stored event that follows. */
  private void confirm(TypeCode type, long id, String topic, long position, long creation) {
    send(
        ControlFrames.encode(
            TypeCode.CONFIRM, new Confirm(type.code(), id, topic, -1L, position, false, creation)),
        DeliveryKind.CALL_ANSWER);
  }

  private void send(byte[] bytesOfFrame, DeliveryKind kind) {
    if (closed) {
      return;
    }
    Delivery frame = loop.router.deliveries().allocate(kind, bytesOfFrame.length, 0, 0);
    frame.append(ByteBuffer.wrap(bytesOfFrame));
    frame.finish();
    out.send(frame);
  }
}
