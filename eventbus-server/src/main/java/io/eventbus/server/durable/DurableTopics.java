package io.eventbus.server.durable;

import io.eventbus.base.Schedules;
import io.eventbus.journal.JournalCatalog;
import io.eventbus.journal.Journals;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.delivery.Loops;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.routing.JournalRoutes;
import io.eventbus.server.routing.Router;
import io.netty.buffer.PooledByteBufAllocator;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Durable topics of a bus: which they are, and the feed of their subscribers. Any thread. */
public final class DurableTopics implements StoredDelivery, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DurableTopics.class);

  /** Bytes of chunks that wait for subscribers. */
  private static final long FEED_BYTES = 16 << 20;

  /** Bytes of chunks that are kept for consumers near the end of their journals. */
  private static final long TAIL_BYTES = 16 << 20;

  /** Time between two looks at how far the feed has come. */
  private static final long FEED_MILLIS = 5;

  /** Time between two looks at what journals hold. */
  private static final long FIGURES_SECONDS = 5;

  private final Journals journals;
  private final JournalCluster cluster;
  private final JournalRoutes routes;
  private final Loops loops;
  private final BusMemory memory;
  private final long timeoutNanos;
  private final ScheduledThreadPoolExecutor pauses;
  private final ScheduledThreadPoolExecutor readers;
  private final JournalConsumers consumers;
  private final JournalSums sums;
  private final JournalQuotas quotas;
  private final Consumer<Advisory> advisories;
  private final FullJournals full;
  private Journals.@Nullable Watch watch;
  private volatile @Nullable JournalFeed feed;
  private @Nullable JournalCatalog routed;
  private volatile DurableRoutes table = new DurableRoutes(JournalCatalog.of(List.of()));

  /**
   * Creates the durable topics of a bus.
   *
   * @param cluster the buses that keep these journals
   * @param routes are kept as the journals are
   * @param quotas bound what accounts store
   * @param owner has the cursors of this bus's consumers
   * @param advisories told of what operators want to know at once
   * @param timeout time within which what is committed has to be delivered here
   */
  public DurableTopics(
      Journals journals,
      JournalCluster cluster,
      JournalRoutes routes,
      JournalQuotas quotas,
      CursorOwner owner,
      Consumer<Advisory> advisories,
      Loops loops,
      BusMemory memory,
      Duration timeout) {
    this.journals = journals;
    this.cluster = cluster;
    this.routes = routes;
    this.quotas = quotas;
    this.advisories = advisories;
    full = new FullJournals(journals::catalog, advisories, System::nanoTime);
    this.sums = new JournalSums(journals, quotas);
    this.loops = loops;
    this.memory = memory;
    this.timeoutNanos = timeout.toNanos();
    pauses = threads(1, "eventbus-journals");
    readers = threads(JournalConsumers.READERS, "eventbus-readers");
    consumers =
        new JournalConsumers(
            journals,
            loops,
            memory,
            PooledByteBufAllocator.DEFAULT,
            TAIL_BYTES,
            new ReadTurns((task, millis) -> run(readers, task, millis), JournalConsumers.READERS),
            owner,
            advisories,
            (task, millis) -> run(pauses, task, millis),
            System::nanoTime);
  }

  private static ScheduledThreadPoolExecutor threads(int count, String name) {
    return new ScheduledThreadPoolExecutor(
        count,
        task -> {
          Thread thread = new Thread(task, name);
          thread.setDaemon(true);
          return thread;
        });
  }

  /** Returns what the consumers of the journals share. */
  public JournalConsumers consumers() {
    return consumers;
  }

  /** Begins to deliver what is published from now on. To be called once. */
  public void start(List<Router> routers) {
    JournalFeed created =
        new JournalFeed(
            journals,
            loops,
            routers,
            memory,
            FEED_BYTES,
            (task, millis) -> run(pauses, task, millis));
    feed = created;
    watch =
        journals.watch(
            changes -> {
              route();
              sums.applied(changes);
              created.applied(changes);
              consumers.applied(changes);
            });
    route();
    var unused =
        pauses.scheduleWithFixedDelay(
            Schedules.guarded(
                LOG,
                "looking at what journals hold",
                () -> {
                  full.look();
                  sums.refresh();
                }),
            0,
            FIGURES_SECONDS,
            TimeUnit.SECONDS);
  }

  /** Routes by the journals as they are now. */
  synchronized void route() {
    JournalCatalog now = journals.catalog();
    if (now != routed) {
      routed = now;
      table = new DurableRoutes(now);
      routes.set(table);
    }
  }

  @Override
  public void whenDelivered(int loop, String account, TopicFilter filter, Consumer<Boolean> done) {
    JournalFeed open = feed;
    if (open == null || !table.hasAny(account)) {
      done.accept(true);
      return;
    }
    long end = System.nanoTime() + timeoutNanos;
    Consumer<Boolean> answer =
        delivered -> {
          try {
            loops.executor(loop).execute(() -> done.accept(delivered));
          } catch (RejectedExecutionException e) {
            // The bus has ended.
          }
        };
    var unused =
        journals
            .appliedUpToNow()
            .whenComplete(
                (nothing, error) -> {
                  // Not at once after a failure: the caller may ask again.
                  long left = error == null ? 0 : (end - System.nanoTime()) / 1_000_000;
                  run(
                      pauses,
                      () -> {
                        if (error == null) {
                          await(open.ends(table.journals(account, filter)), open, end, answer);
                        } else {
                          answer.accept(false);
                        }
                      },
                      Math.max(0, left));
                });
  }

  @Override
  public @Nullable Supplier<String> refusal(String account) {
    return quotas.refusal(account);
  }

  @Override
  public void full(int journal) {
    full.refused(journal);
  }

  private void await(
      Map<Integer, Long> ends, JournalFeed open, long deadline, Consumer<Boolean> answer) {
    if (open.hasDelivered(ends)) {
      answer.accept(true);
    } else if (System.nanoTime() - deadline >= 0) {
      answer.accept(false);
    } else {
      run(pauses, () -> await(ends, open, deadline, answer), FEED_MILLIS);
    }
  }

  private static void run(ScheduledThreadPoolExecutor threads, Runnable task, long millis) {
    try {
      var unused = threads.schedule(task, millis, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      // The bus has ended.
    }
  }

  /** Returns the administration of the journals. */
  public JournalAdministration administration() {
    return new JournalAdministration(journals, cluster, quotas, advisories, this::route);
  }

  /** Returns the figures of all journals, which may be some seconds old. */
  public DurableFigures figures() {
    return sums.figures();
  }

  /** Ends the feed; the journals stay open. */
  @Override
  public void close() {
    if (watch != null) {
      watch.close();
    }
    pauses.shutdownNow();
    readers.shutdownNow();
  }
}
