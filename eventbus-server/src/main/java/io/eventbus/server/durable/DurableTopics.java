package io.eventbus.server.durable;

import io.eventbus.journal.JournalCatalog;
import io.eventbus.journal.Journals;
import io.eventbus.server.delivery.Loops;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.routing.JournalRoutes;
import io.eventbus.server.routing.Router;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Durable topics of a bus: which they are, and the feed of their subscribers. Any thread. */
public final class DurableTopics implements AutoCloseable {
  /** Bytes of chunks that wait for subscribers. */
  private static final long FEED_BYTES = 16 << 20;

  /** Time between two looks at what journals hold. */
  private static final long FIGURES_SECONDS = 5;

  private final Journals journals;
  private final JournalRoutes routes;
  private final ScheduledThreadPoolExecutor pauses;
  private final JournalSums sums;
  private Journals.@Nullable Watch watch;
  private @Nullable JournalCatalog routed;

  /**
   * Creates the durable topics of a bus.
   *
   * @param routes are kept as the journals are
   */
  public DurableTopics(Journals journals, JournalRoutes routes) {
    this.journals = journals;
    this.routes = routes;
    this.sums = new JournalSums(journals);
    pauses =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, "eventbus-journals");
              thread.setDaemon(true);
              return thread;
            });
  }

  /** Begins to deliver what is published from now on. To be called once. */
  public void start(Loops loops, List<Router> routers, BusMemory memory) {
    JournalFeed feed = new JournalFeed(journals, loops, routers, memory, FEED_BYTES, this::pause);
    watch =
        journals.watch(
            changes -> {
              route();
              sums.applied(changes);
              feed.applied(changes);
            });
    route();
    var unused = pauses.scheduleWithFixedDelay(sums::refresh, 0, FIGURES_SECONDS, TimeUnit.SECONDS);
  }

  /** Routes by the journals as they are now. */
  synchronized void route() {
    JournalCatalog now = journals.catalog();
    if (now != routed) {
      routed = now;
      routes.set(new DurableRoutes(now));
    }
  }

  private void pause(Runnable task, long millis) {
    try {
      var unused = pauses.schedule(task, millis, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      // The bus has ended.
    }
  }

  /** Returns the administration of the journals. */
  public JournalAdministration administration() {
    return new JournalAdministration(journals, this::route);
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
  }
}
