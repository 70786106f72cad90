package io.eventbus.server.sys;

import io.eventbus.base.RateLimitedLog;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.advisory.Advisory.PermissionDenied;
import io.eventbus.server.view.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Instant;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Audit log: actions and refusals with their authors. Each entry is a line of JSON for the logger
 * {@value #LINES}, and an event on {@code $SYS.audit.NAME.TYPE} for observers. Any thread.
 *
 * <p>It is written on a thread of its own; reporting never waits. Entries without room, and those
 * that clients cause beyond {@link AuditShares}, are counted, and the next entry has the count.
 */
public final class AuditTrail implements Consumer<Advisory>, AutoCloseable {
  /** Name of the logger of the lines, which has an appender of its own if there is a file. */
  public static final String LINES = "eventbus.audit.lines";

  static final long MAX_QUEUED_BYTES = 4 << 20;

  /** Maximum length of texts that others have chosen. */
  static final int MAX_TEXT = 512;

  private static final long LOOK_MILLIS = 1_000;
  private static final Logger LOG = LoggerFactory.getLogger(AuditTrail.class);
  private static final Entry END = new Entry("", "");
  private static final RateLimitedLog RARE = new RateLimitedLog(LOG);

  private final String bus;
  private final boolean kept;
  private final Consumer<String> lines;
  private final Predicate<String> wanted;
  private final Clock clock;
  private final LongSupplier nanoTime;
  private final LongAdder dropped;
  private final DenialCounts denials = new DenialCounts();
  private final LinkedBlockingQueue<Entry> queue = new LinkedBlockingQueue<>();
  private final AtomicLong queuedBytes = new AtomicLong();
  private final AuditShares shares;
  private final Thread thread = new Thread(this::run, "eventbus-audit");
  private volatile @Nullable Publisher publisher;
  private long omitted;
  private volatile boolean closed;

  private record Entry(String topic, String json) {}

  /**
   * Entry of the audit log.
   *
   * @param omitted entries that were left out since the one before
   */
  record Message(String bus, Instant at, String type, long omitted, Advisory detail) {}

  /** Creates a log that writes from {@link #start} on. */
  public AuditTrail(
      String bus, boolean kept, Predicate<String> wanted, Clock clock, LongAdder dropped) {
    this(bus, kept, LoggerFactory.getLogger(LINES)::info, wanted, clock, System::nanoTime, dropped);
  }

  AuditTrail(
      String bus,
      boolean kept,
      Consumer<String> lines,
      Predicate<String> wanted,
      Clock clock,
      LongSupplier nanoTime,
      LongAdder dropped) {
    this.bus = bus;
    this.kept = kept;
    this.lines = lines;
    this.wanted = wanted;
    this.clock = clock;
    this.nanoTime = nanoTime;
    this.dropped = dropped;
    shares = new AuditShares(nanoTime.getAsLong());
    thread.setDaemon(true);
  }

  /** Begins to write; once. */
  public void start() {
    thread.start();
  }

  /** Publishes entries from now on, too; or no longer. */
  void publishTo(@Nullable Publisher client) {
    publisher = client;
  }

  @Override
  public void accept(Advisory advisory) {
    if (advisory instanceof PermissionDenied denied) {
      denials.add(denied, nanoTime.getAsLong()).forEach(this::add);
    } else {
      add(advisory);
    }
  }

  private void add(Advisory advisory) {
    String topic = SysTopics.auditTopic(bus, advisory.type());
    if (kept || (publisher != null && wanted.test(topic))) {
      enqueue(topic, advisory);
    }
  }

  private synchronized void enqueue(String topic, Advisory advisory) {
    if (closed) {
      return;
    }
    boolean isKept = !advisory.causedByClient() || shares.take(advisory, nanoTime.getAsLong());
    String json = isKept ? json(advisory) : "";
    if (json.isEmpty() || queuedBytes.get() + json.length() > MAX_QUEUED_BYTES) {
      omitted++;
      dropped.increment();
      RARE.warn("omitted", "entries of the audit log are left out: they come too fast");
      return;
    }
    omitted = 0;
    queuedBytes.addAndGet(json.length());
    queue.add(new Entry(topic, json));
  }

  private String json(Advisory advisory) {
    try {
      return new String(
          Json.write(
              new Message(bus, clock.instant(), advisory.type(), omitted, advisory), MAX_TEXT),
          StandardCharsets.UTF_8);
    } catch (IOException e) {
      RARE.error("json", e, "an entry of the audit log could not be written");
      return "";
    }
  }

  /** Writes until the end: what goes wrong with an entry must not cost all later ones. */
  private void run() {
    boolean goesOn = true;
    while (goesOn) {
      try {
        goesOn = writeNext();
      } catch (InterruptedException e) {
        return;
      } catch (RuntimeException | Error e) {
        RARE.error("run", e, "an entry of the audit log could not be written");
      }
    }
  }

  private boolean writeNext() throws InterruptedException {
    denials.due(nanoTime.getAsLong()).forEach(this::add);
    Entry next = queue.poll(LOOK_MILLIS, TimeUnit.MILLISECONDS);
    if (next != null && !END.equals(next)) {
      queuedBytes.addAndGet(-next.json().length());
      write(next);
    }
    return !END.equals(next);
  }

  private void write(Entry entry) {
    if (kept) {
      lines.accept(entry.json());
    }
    Publisher client = publisher;
    if (client != null && wanted.test(entry.topic())) {
      client.publish(entry.topic(), entry.json().getBytes(StandardCharsets.UTF_8));
    }
  }

  /** Publishes nothing more; writes what is queued, for at most a second. */
  @Override
  public void close() {
    publisher = null;
    closed = true;
    queue.add(END);
    try {
      thread.join(LOOK_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
